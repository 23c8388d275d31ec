"""Words that tell what kind of saying a sentence is, in many languages, folded before they are compared."""

HYPOTHETICAL = r"""what if|suppose|supposing|imagine|hypothetically|let's say|say we|if only|assuming|
    for example|e\.g\.|angenommen|stell dir vor|was wäre wenn|gesetzt den fall|zum beispiel|imaginons|
    supposons|et si|par exemple|imagina|imaginemos|supongamos|y si|por ejemplo|immagina|suponha|もし|仮に|
    たとえば|لو|لنفترض|تخيل|मान लो|अगर|सोचो|diyelim ki|varsayalım|farz et|mesela|предположим|допустим"""
"""At the beginning of a sentence."""

JOKE = """jk|just kidding|only joking|just joking|only kidding|nur spaß|nur ein scherz|kleiner scherz|
    je plaisante|je rigole|c'est une blague|es broma|bromeo|scherzo|冗談です?|冗談だよ|
    なんちゃって|مزح|امزح|मज़ाक|मजाक|şaka|şakaydı|шучу"""
"""Anywhere in the message."""

OFF_RECORD = """(?:don't|do not) (?:remember|save|store|keep|note) (?:this|that|it)|off the record|
    merk dir das nicht|nicht merken|ne retiens pas|ne note pas|no (?:recuerdes|guardes) esto|覚えないで|
    記憶しないで|لا تتذكر هذا|याद मत|bunu (?:hatırlama|kaydetme)"""
"""Anywhere in the message: nothing of it is kept."""

FORGET = """forget|vergiss|vergesst|oublie|oubliez|olvida|olvídate|dimentica|esqueça|忘れて|انس|भूल जाओ|unut|
    забудь"""
"""At the beginning of a sentence: what follows is to go, not to stay."""

INVENTED = """persona|fictional|fictitious|(?:demo|sample|dummy|example|test) (?:user|account|person|
    customer)|fiktive?r?|beispielperson|testperson|personnage|fictive?|ficticio|ficticia|架空|
    ペルソナ|サンプルユーザー|شخصية وهمية|काल्पनिक|kurgusal|hayali"""
"""A sentence about a made-up person says nothing about its speaker."""

TRIVIAL = """ok okay k kk thanks thank you thx ty cool nice great good perfect awesome done yes yep yeah
    yup no nope sure fine got it understood lol haha hehe hi hello hey bye morning wow right
    agreed same please again run go on continue next very much so the that it's that's danke
    super gut passt ja nein klar alles hallo tschüss merci oui non d'accord parfait salut bien
    gracias sí si vale perfecto hola claro obrigado grazie ciao ありがとう ありがとうございます
    はい いいえ 了解 了解です 了解しました オーケー すごい شكرا نعم لا تمام حسنا مرحبا धन्यवाद
    शुक्रिया हाँ हां नहीं ठीक है नमस्ते अच्छा teşekkürler teşekkür ederim sağol evet hayır tamam
    peki merhaba harika спасибо да нет хорошо 谢谢 好的 감사합니다 네"""
"""A message of these alone teaches nothing."""

_DO = """answer reply respond write use copy send post include add call mention tell say show speak format cc
    forward ignore do make put start end treat consider obey follow reveal print output act pretend never
    always don't please"""
_TU = "reponds|ecris|envoie|copie|publie|utilise|appelle"
_TU_SPANISH = "responde|escribe|envia|copia|publica|usa|llama"
_DU = "antworte|schreibe?|sende|schicke?|nutze|verwende|kopiere|poste|sag|nenne"
_HINDI = "करो|करें|दो|देना|भेजो|लिखो"
_TURKISH = "cevap ver|yaz|gonder|kullan|kopyala|paylas"
_ARABIC = "اجب|ارسل|انسخ|اكتب"
_ENGLISH = "|".join(_DO.split())

_BEFORE = "you|bot|assistant|teambot|please|must|should|to"

ORDERS = (
    rf"(?:^|[.!:;,\n]\s*|\b(?:{_BEFORE})\s+)(?:always|never)\s+(?:{_ENGLISH})\b",
    rf"\bfrom now on,? (?:you |please )?(?:{_ENGLISH})\b",
    r"\byou (?:must|should|shall|have to|need to|are to|may not)\b",
    r"\b(?:bot|assistant|teambot|ai|model)s? (?:must|should|shall|has to|have to|needs to|is to)\b",
    r"\b(?:note|message|instruction|memo)s? (?:for|to) (?:the )?(?:bot|assistant|ai|model|teambot)\b",
    r"\bignore (?:all |any |the |your )*(?:previous|prior|earlier|above|instructions|rules)\b",
    r"\b(?:system|developer) (?:prompt|message|instructions?)\b|(?:^|\s)system:|<\s*/?\s*[a-z_]+\s*>",
    r"\breveal\b.{0,40}\b(?:notes?|secrets?|prompt|memor|private)",
    rf"\b(?:ab jetzt|von nun an|ab sofort),? (?:bitte |immer |nur )*(?:{_DU})\b",
    rf"\b(?:{_DU}) (?:mir |uns |bitte )*(?:immer|nur|stets|jede)\b|\bdu (?:sollst|musst|darfst)\b",
    r"\bignoriere (?:alle |die )?(?:vorherigen|bisherigen|anweisungen)",
    r"\b(?:bot|assistent) (?:soll|muss|darf)\b",
    rf"\b(?:{_TU})(?:-moi|-nous)? (?:toujours|seulement|desormais)|\btu dois\b|\bignore (?:les|toutes) ",
    rf"\b(?:le bot|l'assistant) (?:doit|devra)\b|\b(?:desormais|a partir de maintenant),? (?:{_TU})\b",
    rf"\b(?:{_TU_SPANISH})(?:me|nos)? siempre\b",
    rf"\bsiempre (?:{_TU_SPANISH})(?:me|nos)?\b|\btu? debes\b|\bignora (?:las|todas)\b",
    rf"\b(?:el bot|el asistente) (?:debe|tiene que)\b|\bde ahora en adelante,? (?:{_TU_SPANISH})",
    r"(?:て|で)(?:ください|下さい|くれ)[。!]?$|しなさい[。!]?$|ようにして[。!]?$",
    r"(?:以前|これまで)の指示を?無視|ボットは.{0,20}(?:べき|こと)",
    rf"من الآن فصاعدا|(?:{_ARABIC}) دائما|دائما (?:{_ARABIC})|تجاهل|يجب على (?:البوت|المساعد)|يجب عليك",
    rf"अब से .{{0,40}}(?:{_HINDI})|हमेशा .{{0,40}}(?:{_HINDI})[।.!]?$|अनदेखा|बॉट को .{{0,40}}चाहिए",
    rf"bundan (?:sonra|boyle) .{{0,60}}(?:{_TURKISH})\b|her zaman .{{0,60}}(?:{_TURKISH})[.!]?$",
    r"\byok say\b|\b(?:bot|asistan) .{0,30}(?:meli|mali|zorunda)\b",
    r"\bвсегда (?:отвечай|пиши|отправляй)|\bигнорируй\b",
)
"""What reads as an instruction to the bot; memory keeps statements about the world."""

_NOW = """now|right now|currently|at the moment|today|gerade|aktuell|derzeit|jetzt|actuellement|en ce moment|
    maintenant|ahora|actualmente|今|現在|الآن|حاليا|अभी|su an|simdi|сейчас"""
_MARKET = """stock price|share price|exchange rate|bitcoin|btc|ethereum|ticker|aktienkurs|wechselkurs|
    cours de l'action|taux de change|cotizacion|tipo de cambio|株価|為替|سعر الصرف|سعر السهم|शेयर|विनिमय दर|
    hisse fiyati|doviz kuru|dolar kuru"""
_PRICE = """price|costs?|preis|kostet|prix|coute|precio|cuesta|価格|値段|سعر|कीमत|दाम|fiyati?|цена"""
_BROKEN = "down|offline|online|failing|broken|red|green|degraded|unreachable"

LIVE = (
    rf"(?:{_MARKET}).{{0,60}}\d|\d.{{0,40}}(?:{_MARKET})",
    rf"(?:{_PRICE}).{{0,60}}\d.{{0,60}}\b(?:{_NOW})|\b(?:{_NOW}).{{0,60}}(?:{_PRICE}).{{0,60}}\d",
    rf"(?:{_PRICE}).{{0,30}}\b(?:{_NOW}).{{0,60}}\d",
    rf"\b(?:is|are|went) (?:currently |now |still |again |back )?(?:{_BROKEN})\b",
    r"\b(?:ist|sind) (?:gerade |aktuell |wieder |noch )?(?:down|offline|kaputt|unerreichbar|rot|grun)\b",
    r"\b(?:est|sont) (?:en panne|hors ligne|indisponible)|\besta(?:n)? (?:caid[oa]s?|fuera de linea)",
    r"(?:が|は)(?:落ちて|ダウンして|止まって)|\b(?:coktu|cokmus)\b",
    r"\b(?:temperature|weather|wetter|temperatur|meteo|clima)\b.{0,40}\d|(?<!\d)\d{1,4} ?(?:°|degrees)",
    r"気温|الطقس|मौसम|hava durumu",
    r"\b(?:cpu|memory|disk|load|queue|traffic)\b.{0,20}?\d{1,3} ?%",
)
"""What changes by itself and is looked up again, never remembered."""
