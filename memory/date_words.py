"""Words for days in ten languages, as they are written once cases and accents are folded away."""

DAYS = {
    0: """today|tonight|this morning|this afternoon|this evening|heute|aujourd'hui|ce matin|ce soir|hoy|
        esta noche|esta tarde|hoje|oggi|今日|本日|今夜|今晩|今朝|今天|오늘|اليوم|الليلة|आज|bugün|bu akşam|
        bu sabah|сегодня|vandaag""",
    1: """tomorrow|tmrw|morgen|demain|mañana|amanhã|domani|明日|あした|明天|내일|غدا|yarın|завтра""",
    2: """the day after tomorrow|day after tomorrow|übermorgen|après-demain|pasado mañana|dopodomani|
        あさって|明後日|后天|後天|모레|بعد غد|öbür gün|послезавтра|overmorgen""",
    -1: """yesterday|last night|gestern|ayer|anoche|ontem|ieri|昨日|きのう|昨夜|昨天|어제|أمس|امس|
        البارحة|dün|вчера|gisteren|hier soir|hier matin""",
    -2: """the day before yesterday|day before yesterday|vorgestern|avant-hier|anteayer|一昨日|おととい|前天|
        أول أمس|evvelsi gün|позавчера""",
}
"""Days counted from the day on which the word was said."""

EITHER = {"कल": (1, -1), "परसों": (2, -2)}
"""Hindi has one word for the day before and the day after."""

MORNING = "jeden|am|guten|diesen|each|every|por la|de la|a la|esta|cada|la"
"""What turns "morgen" and "mañana" into the morning."""

_COUNT = r"(?:\d+|a|an|two|three|four|five|six|ten|eine[mr]|zwei|drei|vier|une?|una|deux|trois|dos|tres)"
_UNIT = (
    "(?:minute|hour|day|week|month|year|tag|woche|monat|stunde|jahr|jour|semaine|mois|heure|an|dia|semana|mes|"
    "hora|año)"
)
_DAY_OR_MORE = "week|weekend|month|year|quarter|monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_GERMAN = "woche|monat|jahr|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag"

LOOSE = (
    rf"(?:next|last|this|coming) (?:{_DAY_OR_MORE})",
    rf"(?:in|within|vor|dans|dentro de|hace|il y a) {_COUNT} {_UNIT}[a-z]{{0,2}}",
    rf"{_COUNT} {_UNIT}s? (?:ago|from now|later)",
    "right now|at the moment|currently|just now|later today|soon|recently|the other day",
    rf"(?:nächst|kommend|letzt|dies|vergangen)e[rsnm]? (?:{_GERMAN})|gerade eben|zurzeit|momentan|derzeit",
    "(?:la semaine|le mois|l'année) (?:prochaine?|dernière?)|cette semaine|ce mois|en ce moment|actuellement",
    "la próxima semana|la semana (?:que viene|pasada)|el próximo mes|esta semana|ahora mismo|actualmente",
    "来週|先週|今週|来月|先月|今月|来年|去年|再来週|さっき|先ほど|現在|下周|上周|本周|다음 주|지난주|이번 주",
    "الأسبوع القادم|الأسبوع الماضي|هذا الأسبوع|الشهر القادم|حاليا|الآن",
    "(?:अगले|पिछले|इस) (?:हफ्ते|सप्ताह|महीने)|अभी",
    "(?:gelecek|önümüzdeki|geçen) (?:hafta|ay|pazartesi|salı|çarşamba|perşembe|cuma)",
    "haftaya|bu hafta|şu an|şimdi",
    "на следующей неделе|на прошлой неделе|сейчас",
)
"""Words that mean another day whenever they are read."""

WEEKDAYS = (
    "monday|montag|lundi|lunes|月曜|الاثنين|सोमवार|pazartesi",
    "tuesday|dienstag|mardi|martes|火曜|الثلاثاء|मंगलवार|salı",
    "wednesday|mittwoch|mercredi|miércoles|水曜|الأربعاء|बुधवार|çarşamba",
    "thursday|donnerstag|jeudi|jueves|木曜|الخميس|गुरुवार|perşembe",
    "friday|freitag|vendredi|viernes|金曜|الجمعة|शुक्रवार|cuma",
    "saturday|samstag|samedi|sábado|土曜|السبت|शनिवार|cumartesi",
    "sunday|sonntag|dimanche|domingo|日曜|الأحد|रविवार|pazar",
)
"""Monday first."""

EVERY = "every|each|jeden|jede|chaque|tous les|cada|todos los|毎|हर|كل|her"
"""What makes a weekday any week's."""
