"""Small word lists for the rule checks; the only place where languages are named.

They are short on purpose: function words that stand in nearly every sentence, the words
that open a question, and words that can answer one. A language without a list is judged
by all of its words.
"""

from __future__ import annotations


def _words(*lines: str) -> frozenset[str]:
    return frozenset(" ".join(lines).split())


STOP_WORDS: dict[str, frozenset[str]] = {
    "en": _words(
        "a an the this that these those it its they them their he him his she her we us",
        "our you your i me my one ones who whom whose which what when where why how and",
        "or but if then than so as at by for from in into of off on onto out over to up",
        "with without about after before between during under is am are was were be been",
        "being do does did done doing has have had having can could may might must shall",
        "should will would not no yes there here also only just very more most much many",
        "some any all each both such same other another because while per via own get",
    ),
    "de": _words(
        "der die das den dem des ein eine einen einem einer eines und oder aber wenn dann",
        "als so wie an am auf aus bei beim bis durch für gegen im in ins mit nach ohne um",
        "unter von vom vor zu zum zur über ist bin bist sind war waren sein wird werden",
        "wurde wurden hat haben hatte hatten kann können muss müssen soll sollen darf man",
        "nicht kein keine ja nein er sie es ihr ihre ihren wir uns du ich mich mir sich",
        "was wer wen wem wo wann warum welche welcher welches welchen auch nur noch sehr",
        "mehr dass dies diese dieser dieses jede jeder jedes alle dort hier doch etwa",
    ),
    "fr": _words(
        "le la les l un une des du de d et ou mais si alors que qu qui quoi quel quelle",
        "quels quelles quand où comment pourquoi combien est sont était étaient être a ont",
        "avait ai as avoir fait ce cet cette ces c il elle ils elles on nous vous je tu se",
        "s sa son ses leur leurs lui y en dans par pour sur sous avec sans au aux à ne n",
        "pas non oui plus moins très aussi comme entre vers chez peut doit t j m dont",
    ),
    "es": _words(
        "el la los las un una unos unas de del y o u pero si entonces que qué quien quién",
        "cual cuál cuáles cuando cuándo donde dónde como cómo por porque cuánto cuántos",
        "cuánta cuántas es son era eran fue fueron ser está están ha han había hay haber",
        "este esta estos estas ese esa eso esto lo le les se su sus nos yo tú él ella",
        "ellos en con sin para sobre entre desde hasta al a no sí más menos muy también",
        "puede debe",
    ),
}

QUESTION_WORDS = _words(
    "what which who whom whose when where why how",
    "was wer wen wem wessen wann wo warum wie welche welcher welches welchen welchem",
    "wieso weshalb wohin woher wozu womit wodurch wofür woraus wonach worin worauf",
    "wieviel wieviele",
    "qui que quoi quel quelle quels quelles quand où comment pourquoi combien lequel",
    "laquelle qu'est-ce est-ce qu'est-ce-que",
    "qué quién quiénes cuál cuáles cuándo dónde adónde cómo cuánto cuánta cuántos cuántas",
    # Languages without a list of function words: their texts may be taken for the
    # nearest one that has a list. Words that also join clauses there are left out.
    "quem onde quando qual quais quanto quanta quantos quantas",
    "chi cosa cos'è dov'è dove quale quali quanti quante perché",
    "wat waar wanneer waarom welke welk hoe hoeveel",
)

QUESTION_VERBS = _words(
    "is are am was were do does did can could may might must shall should will would has",
    "have had isn't aren't wasn't weren't don't doesn't didn't can't couldn't shouldn't",
    "won't wouldn't",
    "ist sind war waren hat haben hatte hatten kann können könnte muss müssen soll",
    "sollte sollen darf dürfen wird werden wurde wurden gibt",
    "est sont était peut peuvent doit doivent faut a-t-il a-t-elle existe-t-il",
    "es son era está están hay puede pueden debe deben tiene tienen fue",
)

INSTRUCTION_WORDS = _words(
    "explain describe name list define compare summarize summarise give state outline",
    "identify tell write translate calculate discuss",
    "erkläre erklären beschreibe beschreiben nenne nennen vergleiche",
    "explique expliquez décris décrivez nomme nommez cite citez",
    "explica describe nombra enumera define compara",
)

CJK_QUESTION_SIGNS = (
    *(
        "什么",
        "甚麼",
        "什麼",
        "谁",
        "誰",
        "哪",
        "何",
        "怎",
        "为什",
        "為什",
        "多少",
        "几",
    ),
    *("吗", "呢", "か", "なぜ", "どこ", "どの", "どう", "いつ", "いくつ"),
    *("무엇", "누구", "어디", "언제", "왜", "어떻", "어느", "얼마", "몇", "까"),
)

SUBJECT_OPENERS = _words("the a an it they he she we you i its their his her our your")
"""English words that cannot follow a question word directly: "How the river flows?"."""

GENERIC_WORDS = _words(
    "name type kind sort purpose main reason cause difference example way number amount",
    "term word role function effect result meaning mean definition define process step",
    "steps length size height width depth weight age color colour part parts thing things",
    "happen happens important importance called call used use make made take consist",
    "describe explain list give best primary typical typically usually long big large old",
    "far often tall high deep hot cold fast heavy need year month day date time place",
    "person people someone method benefit benefits advantage purposes recommended",
    "name zweck art grund beispiel unterschied bedeutung länge größe anzahl jahr heißt",
    "nom but raison exemple différence longueur taille nombre année appelle rôle",
    "nombre propósito razón ejemplo diferencia longitud tamaño número año llama",
)
"""Words of a question that its text need not have: "What is the *purpose* of yeast?"."""

NUMBER_WORDS: dict[str, int] = {
    **{
        word: value
        for value, words in enumerate(
            (
                "zero null zéro cero",
                "one eins un uno una",
                "two zwei deux dos",
                "three drei trois tres",
                "four vier quatre cuatro",
                "five fünf cinq cinco",
                "six sechs seis",
                "seven sieben sept siete",
                "eight acht huit ocho",
                "nine neun neuf nueve",
                "ten zehn dix diez",
                "eleven elf onze once",
                "twelve zwölf douze doce",
            )
        )
        for word in words.split()
    },
    "thirteen": 13,
    "fourteen": 14,
    "fifteen": 15,
    "sixteen": 16,
    "eighteen": 18,
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "ninety": 90,
    "hundred": 100,
    "hundert": 100,
    "cent": 100,
    "cien": 100,
    "thousand": 1000,
    "tausend": 1000,
    "mille": 1000,
    "mil": 1000,
    "million": 10**6,
    "millionen": 10**6,
    "millones": 10**6,
    "dozen": 12,
}

QUANTITY_WORDS = _words(
    "none several few many half quarter third both single pair couple once twice thrice",
    "hundreds thousands millions billion billions dozens double triple all no every",
    "mehrere wenige viele halb hälfte viertel beide einmal zweimal keine alle",
    "plusieurs peu beaucoup moitié demi quart aucun aucune tous double",
    "varios varias pocos muchos mitad medio cuarto ambos ninguno todos",
)

TIME_WORDS = _words(
    "january february march april may june july august september october november",
    "december monday tuesday wednesday thursday friday saturday sunday spring summer",
    "autumn fall winter morning noon afternoon evening night midnight today yesterday",
    "tomorrow daily weekly monthly yearly annually hourly always never often sometimes",
    "century centuries decade decades year years month months week weeks day days hour",
    "hours minute minutes second seconds before after during while when whenever if once",
    "until as soon every early late later now immediately first last at in on upon by",
    "ago since then regularly",
    "januar februar märz mai juni juli oktober dezember montag dienstag mittwoch",
    "donnerstag freitag samstag sonntag frühling sommer herbst morgen mittag abend nacht",
    "jahr jahre jahrhundert monat woche tag tage stunde stunden minuten vor nach während",
    "wenn sobald bis täglich immer nie heute",
    "janvier février mars avril juin juillet août septembre octobre novembre décembre",
    "lundi mardi mercredi jeudi vendredi samedi dimanche printemps été automne hiver",
    "matin midi soir nuit siècle an ans année années mois semaine jour jours heure heures",
    "avant après pendant quand lorsque dès toujours jamais",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre",
    "diciembre lunes martes miércoles jueves viernes sábado domingo primavera verano",
    "otoño invierno mañana tarde noche siglo año años mes meses semana día días hora",
    "horas antes después durante cuando siempre nunca",
)

PERSON_WORDS = _words(
    "person people someone anyone everyone nobody man men woman women child children",
    "staff team teams crew family parents mother father friend friends neighbour",
    "neighbor neighbours king queen president chief head boss expert experts scientist",
    "scientists student students adult adults adults doctor nurse you your anybody",
    "everybody company council committee government police board department office",
    "guests guest host tenant tenants resident residents human humans youth company's",
)
PERSON_ENDINGS = ("er", "ers", "or", "ors", "ist", "ists", "ian", "ians", "ant", "ants")
"""Endings of English words for people by what they do: baker, author, chemist."""

YES_NO = _words("yes no ja nein oui non sí si no doch true false correct incorrect")

BREAKING_OFF = _words(
    "the a an of and or to in with for by from that which is are was were has have as",
    "than at on into its their because but",
    "der die das den dem des und oder zu mit für von dass ist sind",
    "le la les des du de et ou que qui est sont dans par pour",
    "el los las del y o que es son en con por para",
)
"""Words on which no whole answer ends."""
