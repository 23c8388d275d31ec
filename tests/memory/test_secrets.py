"""Secrets: the useful part stays, the value is withheld, and what is no secret is left alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.secrets import withhold

TOLD = [
    ("the password is hunter2", "the password is [withheld: password]"),
    ("the password is swordfish.", "the password is [withheld: password]."),
    ("password Tr0ub4dor", "password [withheld: password]"),
    ("The password is `hunter`", "The password is `[withheld: password]`"),
    ("**Password:** hunter2", "**Password:** [withheld: password]"),
    ("Password:\nhunter2", "Password:\n[withheld: password]"),
    ("the wifi password is: Oak-Tree-77", "the wifi password is: [withheld: password]"),
    (
        "the password for the staging box is Zebra!7",
        "the password for the staging box is [withheld: password]",
    ),
    ("the password has been changed to Winter2026!", "the password has been changed to [withheld: password]"),
    ("please change the password to Winter2026!", "please change the password to [withheld: password]"),
    ("hunter2 is the password", "[withheld: password] is the password"),
    ("use Tr0ub4dor as password", "use [withheld: password] as password"),
    ("passphrase: correct horse battery staple", "passphrase: [withheld: password]"),
    ("the password is correct horse battery staple", "the password is [withheld: password]"),
    ("passwords are hunter2 and qwerty9", "passwords are [withheld: password] and [withheld: password]"),
    ("creds: admin / hunter2", "creds: admin / [withheld: password]"),
    ("pin: 4711", "pin: [withheld: PIN]"),
    ("My PIN is 4711, remember it", "My PIN is [withheld: PIN], remember it"),
    ("door code is 4711", "door code is [withheld: code]"),
    ("otp 482913", "otp [withheld: code]"),
    ("api key: 3f2a9c1e77", "api key: [withheld: token]"),
    # German, French, Spanish, Portuguese, Dutch, Polish, Turkish, Vietnamese, Russian, Hebrew
    ("Das WLAN-Passwort ist Sonnenblume!", "Das WLAN-Passwort ist [withheld: password]"),
    ("das Kennwort lautet Geheim123", "das Kennwort lautet [withheld: password]"),
    ("le mot de passe est Soleil2024", "le mot de passe est [withheld: password]"),
    ("la contraseña es Girasol99", "la contraseña es [withheld: password]"),
    ("senha: girassol", "senha: [withheld: password]"),
    ("wachtwoord is Tulp2024", "wachtwoord is [withheld: password]"),
    ("hasło to Roza2024", "hasło to [withheld: password]"),
    ("şifre Lale2024", "şifre [withheld: password]"),
    ("ŞİFREMİZ: lale", "ŞİFREMİZ: [withheld: password]"),
    ("mật khẩu là Sen2024", "mật khẩu là [withheld: password]"),
    ("пароль: Берёза7", "пароль: [withheld: password]"),
    ("סיסמה: abc12345", "סיסמה: [withheld: password]"),
    # Japanese, Chinese, Korean, Arabic, Hindi
    ("パスワードは Tr0ub4dor です", "パスワードは [withheld: password] です"),
    ("パスワード：さくら99", "パスワード：[withheld: password]"),
    ("暗証番号は4711です", "暗証番号は[withheld: PIN]です"),
    ("密码是 abc123", "密码是 [withheld: password]"),
    ("비밀번호는 abc123입니다", "비밀번호는 [withheld: password]입니다"),
    ("كلمة المرور هي Nakhla2024", "كلمة المرور هي [withheld: password]"),
    ("मेरा पासवर्ड है Kamal2024", "मेरा पासवर्ड है [withheld: password]"),
    # Files and headers
    ("DB_PASSWORD=abc", "DB_PASSWORD=[withheld: password]"),
    ('{"password": "hunter"}', '{"password": "[withheld: password]"}'),
    ("password=abc123&user=ada", "password=[withheld: password]&user=ada"),
    ("Authorization: Bearer abcdef1234567890", "Authorization: Bearer [withheld: token]"),
    ("postgres://svc:s3cr/et@db.example.test/app", "postgres://svc:[withheld: password]@db.example.test/app"),
    ("https://ada:pw1@example.test/x", "https://ada:[withheld: password]@example.test/x"),
    ("https://example.test/a?token=abc123def&x=1", "https://example.test/a?token=[withheld: token]&x=1"),
    (
        "https://hooks.slack.com/services/T000/B000/abcdefgh",
        "https://hooks.slack.com/services/[withheld: token]",
    ),
    ("card 4111 1111 1111 1111", "card [withheld: card number]"),
]
TOKENS = [
    "xoxb-000-FAKE",
    "xapp-1-A000-FAKE",
    "sk-ant-api03-abcdef",
    "sk-proj-abcdef123",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "github_pat_11ABCDEFG0",
    "glpat-abcdefghij",
    "AKIAIOSFODNN7EXAMPLE",
    "AIzaSyA-1234567890abcdef",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc",
    "sk_live_abcdef123456",
    "hf_abcdefghijklmnop1234",
    "npm_abcdefghijklmnopqrst",
    "hvs.CAESIJ1234567890abcdefghij1234",
]
PLAIN = [
    "remember build 3f2a9c1e failed on order 99120034",
    "I forgot my password",
    "reset your password by Friday",
    "the password policy requires 12 characters",
    "password must be 12-character",
    "the password is in the vault",
    "the password is wrong",
    "my password is expired.",
    "password: see the vault",
    "please use a password manager",
    "password reset is at 10:30",
    "1Password vault 2024 is shared",
    "password rotation every 90days",
    "the password field is called pw_input in the form",
    "password hash 3f2a9c1e",
    "password: string",
    "password = getpass()",
    "password: ${DB_PASSWORD}",
    "postgres://svc:${PASSWORD}@db.example.test/app",
    "el password es incorrecto",
    "das Passwort ist falsch",
    "le mot de passe est incorrect",
    "la clave es practicar",
    "passwordless login with oauth2",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 is deployed",
    "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "uuid 123e4567-e89b-12d3-a456-426614174000",
    "order 4111111111111111",
    "https://example.test:8080/path?x=1",
    "bearer of bad news",
    "shipping pin boards",
    "we spin up 4711 nodes",
    "the token count is 1500",
    "the secret is to practise every day",
    "the login page is at https://example.test/login",
    "pass the salt, Ben",
    "key PROJ-1234 is open",
    "Ada's email is ada@example.test",
    "the wifi name is Oak",
    "می‌خواهم چای سبز",
    "来週の定例会議は火曜に変更になりました",
    "👩‍👩‍👧‍👦 had lunch",
    "",
]
HOSTILE = {
    "password": "password ",
    "password is": "password is ",
    "pw": "pw:",
    "quoted": 'password "',
    "for": "password for ",
    "backwards": "is the password",
    "addresses": "://",
    "credentials": "a://b:",
    "at": "x:y@",
    "keys": "-----BEGIN RSA PRIVATE KEY-----",
    "tokens": "eyJaaaaaaaa.",
    "query": "?token=",
    "hex": "aB3+/9fceb02d0ae598e95dc970",
    "library": "deepgram key ",
    "backticks": "`",
    "brackets": "[(<{",
    "spaces": " ",
    "letters": "a",
}


@pytest.mark.parametrize(("text", "kept"), TOLD)
def test_a_secret_told_in_words_is_withheld_and_the_rest_stays(text: str, kept: str) -> None:
    found = withhold(text)
    assert found.text == kept
    assert found.kinds


@pytest.mark.parametrize("token", TOKENS)
def test_a_known_token_is_withheld_wherever_it_stands(token: str) -> None:
    assert withhold(f"use {token} for it").text == "use [withheld: token] for it"
    assert withhold(token).kinds == ("token",)


@pytest.mark.parametrize("text", PLAIN)
def test_what_is_no_secret_is_left_alone(text: str) -> None:
    found = withhold(text)
    assert found.text == text
    assert found.kinds == ()


def test_the_trap_of_secrets_kept_word_for_word() -> None:
    found = withhold(
        "remember: prod db user is svc_app, password Tr0ub4dor-EXAMPLE, slack token xoxb-000-FAKE"
    )
    assert found.text == (
        "remember: prod db user is svc_app, password [withheld: password], slack token [withheld: token]"
    )
    assert found.kinds == ("password", "token")


def test_a_private_key_goes_as_a_block_and_the_text_around_it_stays() -> None:
    body = "\n".join(["MIIEpAIBAAKCAQEA1234567890abcdef"] * 5)
    for end in ("\n-----END RSA PRIVATE KEY-----", ""):
        found = withhold(f"deploy key:\n-----BEGIN RSA PRIVATE KEY-----\n{body}{end}\nthanks, Ada")
        assert found.text == "deploy key:\n[withheld: private key]\nthanks, Ada"
        assert found.kinds == ("private key",)


def test_a_public_key_is_no_secret() -> None:
    text = "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG\n-----END PUBLIC KEY-----"
    assert withhold(text).text == text


def test_invisible_characters_hide_nothing_and_survive_elsewhere() -> None:
    found = withhold("می‌خواهم the pass\u200bword is hun\u200bter2 می‌خواهم")
    assert found.text == "می‌خواهم the pass\u200bword is [withheld: password] می‌خواهم"


def test_full_width_letters_hide_nothing() -> None:
    assert withhold("ｐａｓｓｗｏｒｄ：ｈｕｎｔｅｒ２").text == "ｐａｓｓｗｏｒｄ：[withheld: password]"


def test_a_very_long_value_goes_to_its_end() -> None:
    assert (
        withhold("password=" + "aB3$" * 2_000 + " and more").text == "password=[withheld: password] and more"
    )


def test_only_a_grouped_number_with_a_right_check_digit_is_a_card() -> None:
    assert withhold("4111 1111 1111 1112").kinds == ()
    assert withhold("3782 822463 10005").kinds == ("card number",)


@given(st.text(max_size=200))
def test_any_text_is_read_and_once_is_enough(text: str) -> None:
    once = withhold(text)
    assert withhold(once.text) == type(once)(once.text, ())
    assert (once.text == text) == (once.kinds == ())


@given(
    st.sampled_from([text for text, _ in TOLD] + TOKENS),
    st.sampled_from(PLAIN),
    st.sampled_from(["\n", " — "]),
)
def test_a_secret_is_found_between_other_words(secret: str, other: str, gap: str) -> None:
    found = withhold(f"{other}{gap}{secret}{gap}{other}")
    assert found.kinds
    assert withhold(secret).text in found.text


@given(
    st.from_regex(r"[0-9a-f]{7,40}", fullmatch=True), st.sampled_from(["commit", "build", "order", "hash"])
)
def test_a_hash_after_its_own_word_stays(digest: str, word: str) -> None:
    assert withhold(f"{word} {digest} is fine").kinds == ()


@pytest.mark.timeout(60)
@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_is_read_to_its_end(piece: str) -> None:
    text = (piece * (100_000 // len(piece) + 1))[:100_000]
    assert isinstance(withhold(text).text, str)


@pytest.mark.timeout(60)
def test_a_megabyte_of_ordinary_words_is_read() -> None:
    line = "The build 3f2a9c1ecafebabe of order 99120034 went out at 10:30, as Ada said in #general.\n"
    found = withhold(line * 11_000 + "the password is hunter2")
    assert found.kinds == ("password",)
    assert found.text.endswith("the password is [withheld: password]")
