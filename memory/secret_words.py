"""The words by which people introduce a secret, and the words that follow them without being one."""

PASSWORD, PIN, TOKEN, CODE, LOGIN = "password", "PIN", "token", "code", "login"

_INSIDE = {
    # Found inside longer words too: German compounds, PGPASSWORD, CLIENT_SECRET_KEY.
    PASSWORD: """password passwort passwd kennwort passphrase passcode wachtwoord lösenord adgangskode kodeord
        passord salasana heslo jelszó hasło senha contraseña contrasena palavra-passe parolă şifre sifre
        пароль пароля лозинка συνθηματικό סיסמה סיסמא รหัสผ่าน パスワード パスフレーズ
        密码 密碼 口令 비밀번호 패스워드 पासवर्ड""",
    PIN: "暗証番号",
    TOKEN: """apikey api_key api-key apiキー アクセスキー アクセストークン シークレットキー 密钥 令牌
        apitoken api_token access_key secret_key client_secret signing_key encryption_key app_secret
        webhook_secret auth_token access_token refresh_token bot_token secret_access_key""",
}
_PHRASES = {
    PASSWORD: """hasło to|mot de passe|palavra passe|pass phrase|mật khẩu|kata sandi|كلمة المرور|كلمة مرور|
        كلمة السر|رمز عبور|گذرواژه|seed phrase|recovery phrase""",
    TOKEN: """api key|access key|access token|secret key|private key|client secret|signing key|
        encryption key|auth token|bot token|app token|refresh token|api-schlüssel|clé api|clé d'api|
        clave api|clave de api|token de acceso|chiave api|ключ api|api anahtarı""",
    CODE: """security code|verification code|one-time code|2fa code|recovery code|backup code|access code|
        door code|alarm code|sicherheitscode|türcode|code de sécurité|código de seguridad|
        確認コード|验证码""",
}
_WHOLE = {
    # Words of their own only: "spin", "shipping", "compass" and "tokenizer" introduce nothing.
    PASSWORD: "pw|pwd|pass|clave|parola",
    PIN: "pin|pin code|pincode|pin-code|pin number|pin-nummer|código pin|code pin|пин|пин-код|pin kodu|पिन",
    TOKEN: "token|tokens|secret|jeton|токен|トークン",
    CODE: "cvv|cvc|otp",
    LOGIN: "login|creds|credentials|zugangsdaten|identifiants|credenciales",
}


def needles() -> list[tuple[str, str, bool]]:
    """Every introduction, longest first: (text, kind, only as a word of its own)."""
    found = [(word, kind, False) for kind, words in _INSIDE.items() for word in words.split()]
    found += [(word.strip(), kind, False) for kind, words in _PHRASES.items() for word in words.split("|")]
    found += [(word.strip(), kind, True) for kind, words in _WHOLE.items() for word in words.split("|")]
    return sorted(set(found), key=lambda item: (-len(item[0]), item))


AMBIGUOUS = frozenset({"pass", "clave", "parola", "tokens", "secret"})
"""Words with other meanings ("a pass", Spanish "clave"): a colon or a verb must follow."""

PREPOSITIONS = """for of to on at in from behind für von zu zum zur vom im am beim auf de du des pour à au
    para del al en della di per do da dos voor van op för till til dla для от к на""".split()

VERBS = """is are was be ist lautet lautete war est était es era é è são är är var er jest là adalah este
    это هو هي है था is: ist: olacak 는 은""".split()

CHANGES = """set to|reset to|changed to|updated to|will be|should be|must be|geändert auf|changé en|
    cambió a|cambiada a|cambiado a|reads"""

FILLERS = """now currently still just simply always again probably jetzt nun derzeit maintenant désormais
    ahora ora agora"""

STATES = frozenset(
    """wrong right correct incorrect invalid valid expired required optional secret missing safe unsafe
    weak strong gone lost new old unknown known easy hard hidden there here empty long short ready
    needed mandatory same different the a an not no never in on at too very so my our your his her
    their its this that what where when who how why it us them me you being going about under inside
    only also both all for from with without to of by and or but if as than then string str text
    number int integer bool null none nil true false undefined varchar char any object field input
    value tbd todo n/a na yes ok okay please sent below above attached elsewhere private public
    confidential case-sensitive broken bad good great fine terrible simple complex random unique
    important written out off up down back again soon later tomorrow today yesterday monday tuesday
    wednesday thursday friday saturday sunday withheld example see ask use check look get find
    contact falsch richtig abgelaufen sicher unsicher weg neu alt geheim bekannt unbekannt vergessen
    nötig leer lang kurz da hier dort im nicht kein zu sehr gut schlecht gleich anders ungültig
    gültig schwach stark siehe faux fausse bon bonne mauvais mauvaise oublié perdu perdue nouveau
    correcte incorrecte sûr dans trop très pas le la les un une voir incorrecta incorrecto correcta
    correcto nueva nuevo vieja segura débil fuerte el los una en muy demasiado mal bien ver""".split()
)
"""Plain words that say something about a password and are none."""

TERMS = frozenset(
    """sha1 sha-1 sha256 sha-256 sha512 sha-512 md5 bcrypt argon2 argon2id pbkdf2 base64 utf8 utf-8
    oauth oauth2 s3 2fa mfa totp saml2 ldap k8s i18n 1password v1 v2 v3 q1 q2 q3 q4 jwt""".split()
)
"""Terms with digits that stand beside these words and are no secrets."""
