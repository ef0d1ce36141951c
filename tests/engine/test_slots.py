from __future__ import annotations

import asyncio

from synthnb.engine.adaptive import AdaptiveLimit
from synthnb.engine.slots import Slots


def fixed(number):
    return Slots(AdaptiveLimit(number, adaptive=False))


async def test_as_many_enter_as_the_limit_says_in_their_order():
    slots, inside = fixed(2), []

    async def come(name):
        await slots.enter()
        inside.append(name)

    tasks = [asyncio.create_task(come(n)) for n in range(5)]
    await asyncio.sleep(0)
    assert inside == [0, 1]
    slots.limit.answered()
    slots.left()
    # Somebody new does not overtake those who wait.
    tasks.append(asyncio.create_task(come("late")))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert inside == [0, 1, 2]
    for _ in range(3):
        slots.limit.dropped()
        slots.left()
        await asyncio.sleep(0)
    assert inside == [0, 1, 2, 3, 4, "late"]
    await asyncio.gather(*tasks)
    assert slots.limit.in_flight == 2


async def test_a_limit_that_grows_lets_more_in():
    slots = Slots(AdaptiveLimit(8, start=1))
    tasks = [asyncio.create_task(slots.enter()) for _ in range(4)]
    await asyncio.sleep(0)
    assert slots.limit.in_flight == 1
    slots.limit.limit = 3
    slots.left()
    await asyncio.sleep(0)
    assert slots.limit.in_flight == 3
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)


async def test_a_turn_that_is_given_up_goes_to_the_next():
    slots = fixed(1)
    await slots.enter()
    first, second = (asyncio.create_task(slots.enter()) for _ in range(2))
    await asyncio.sleep(0)
    slots.limit.answered()
    slots.left()  # the turn of the first has come …
    first.cancel()  # … and is given up before it woke
    await asyncio.wait([first, second], timeout=5)
    assert first.cancelled()
    assert second.done()
    assert slots.limit.in_flight == 1


async def test_cancelled_waiters_take_no_turn():
    slots = fixed(1)
    await slots.enter()
    gone = [asyncio.create_task(slots.enter()) for _ in range(3)]
    await asyncio.sleep(0)
    for task in gone:
        task.cancel()
    await asyncio.wait(gone)
    slots.limit.answered()
    slots.left()
    async with asyncio.timeout(5):
        await slots.enter()
    assert slots.limit.in_flight == 1
