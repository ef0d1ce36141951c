from __future__ import annotations

import asyncio
import random

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


async def test_answers_of_one_moment_do_not_see_the_same_room_twice():
    slots = fixed(4)
    inside = []

    async def come(name):
        await slots.enter()
        inside.append(name)

    tasks = [asyncio.create_task(come(n)) for n in range(12)]
    await asyncio.sleep(0)
    for _ in range(3):  # three leave before anybody has woken
        slots.limit.answered()
        slots.left()
        assert slots.limit.in_flight == 4
    await asyncio.sleep(0)
    assert inside == list(range(7))
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    assert slots.limit.in_flight == 4


async def test_nobody_is_lost_whatever_is_cancelled():
    rng = random.Random(1)
    slots = Slots(AdaptiveLimit(8, start=3))
    done = []

    async def work(name):
        await slots.enter()
        try:
            for _ in range(rng.randrange(3)):
                await asyncio.sleep(0)
            slots.limit.answered()
        except asyncio.CancelledError:
            slots.limit.dropped()
            raise
        finally:
            slots.left()
        done.append(name)

    tasks = [asyncio.create_task(work(n)) for n in range(400)]
    for _ in range(60):
        await asyncio.sleep(0)
        rng.choice(tasks).cancel()
    async with asyncio.timeout(20):
        await asyncio.wait(tasks)
    cancelled = sum(task.cancelled() for task in tasks)
    assert len(done) + cancelled == 400
    assert cancelled > 0
    assert slots.limit.in_flight == 0
