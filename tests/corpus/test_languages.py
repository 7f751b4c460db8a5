"""Languages: real sentences through a store, as users meet them."""

import json

import pytest
from corpus_oracle import build, sentences, text_of, words

from bagpack.corpus.text.languages import LANGUAGES

CUT = {
    "fr": [
        ("Aujourd'hui, vas-tu à l'école ?", "Aujourd'hui|,|vas|-tu|à|l'|école|?"),
        ("Que veux-tu, demanda-t-elle à M. Dupont.", "Que|veux|-tu|,|demanda|-t-elle|à|M.|Dupont|."),
        ("C’est-à-dire qu’il a rendez-vous avec quelqu’un.", "C’est-à-dire|qu’|il|a|rendez-vous|avec|quelqu’un|."),
        ("Mme. Durand et MM. Petit, Roux, etc. sont là-bas.", "Mme.|Durand|et|MM.|Petit|,|Roux|,|etc.|sont|là-bas|."),
        ("C'est de l'art.", "C'|est|de|l'|art|."),
        ("Y a-t-il du pain ? Donne-moi celui-ci.", "Y|a|-t-il|du|pain|?/Donne|-moi|celui-ci|."),
    ],
    "de": [
        ("Dr. Maier kommt z. B. am Montag usw. nach Berlin.", "Dr.|Maier|kommt|z.|B.|am|Montag|usw.|nach|Berlin|."),
        ("Die Maße der Masse. Der Arm ist arm.", "Die|Maße|der|Masse|./Der|Arm|ist|arm|."),
        ("Vgl. Nr. 5 bzw. Prof. Weiß.", "Vgl.|Nr.|5|bzw.|Prof.|Weiß|."),
    ],
    "it": [
        ("Il sig. Rossi beve l'acqua dell'isola.", "Il|sig.|Rossi|beve|l'|acqua|dell'|isola|."),
        ("Ho visto il dott. Bianchi, il prof. Neri ecc.", "Ho|visto|il|dott.|Bianchi|,|il|prof.|Neri|ecc."),
        ("C'è un'altra città più bella.", "C'|è|un'|altra|città|più|bella|."),
    ],
    "es": [
        ("El Sr. García y la Dra. López viven en EE. UU. hoy.", "El|Sr.|García|y|la|Dra.|López|viven|en|EE.|UU.|hoy|."),
        ("¿Dónde está Ud. ahora? ¡Aquí!", "¿|Dónde|está|Ud.|ahora|?/¡|Aquí|!"),
    ],
    "en": [
        ("The lion's share isn't Mr. Smith's; I'd've gone.", "The|lion|'s|share|is|n't|Mr.|Smith|'s|;|I|'d|'ve|gone|."),
        ("Dr. Jones lives in the U.S. now. They cannot come.", "Dr.|Jones|lives|in|the|U.S.|now|./They|cannot|come|."),
    ],
    "ca": [
        ("L'aigua d'aquest riu és freda. M'agrada l'estiu.", "L'|aigua|d'|aquest|riu|és|freda|./M'|agrada|l'|estiu|."),
    ],
    "oc": [
        ("L'aiga es freja. Aimi l'estiu.", "L'|aiga|es|freja|./Aimi|l'|estiu|."),
    ],
    "zh": [("昨天我去商店买面包。我饿了！", "昨天|我|去|商店|买|面包|。/我|饿|了|！")],
    "ja": [("昨日、私は店に行きました。雨だ。", "昨日|、|私|は|店|に|行き|まし|た|。/雨|だ|。")],
}  # fmt: skip


@pytest.mark.parametrize("lang", CUT)
def test_sentences_and_tokens(lang, tmp_path, write):
    for text, expected in CUT[lang]:
        forms = {"level": "form", "annotator": "none"} if lang == "oc" else {}  # no dictionary has it
        corpus = build(write("a.txt", text + "\n"), tmp_path / "s", lang=lang, **forms)
        assert "/".join("|".join(sentence) for sentence in words(corpus)) == expected
        assert text_of(corpus.shards[0], 0, corpus.tokens).replace(" ", "") == text.replace(" ", "")


LEMMAS = {
    "en": ("The mice were bigger. She's gone, mixing paints.", "the mouse be big . she 's go , mix paint ."),
    "ca": ("Les dones mengen pomes.", "el dona menjar poma ."),
    "fr": ("Vas-tu à l'école ? Les chevaux mangent.", "aller tu à le école ? le cheval manger ."),
    "de": ("Die Häuser sind groß. Schnell lief er.", "der Haus sein groß . schnell laufen er ."),
    "it": ("Gli uomini bevono l'acqua dell'isola.", "il uomo bere il acqua del isola ."),
    "es": ("Los niños comieron manzanas.", "el niño comer manzana ."),
    "ja": ("私は店に行きました。", "私 は 店 に 行く ます た 。"),
}


@pytest.mark.parametrize("lang", LEMMAS)
def test_lemmas(lang, tmp_path, write):
    text, expected = LEMMAS[lang]
    corpus = build(write("a.txt", text + "\n"), tmp_path / "s", lang=lang)
    assert " ".join(key for _, tokens in sentences(corpus) for _, key, _ in tokens) == expected


def test_german_nouns_and_sharp_s_are_kept_apart(tmp_path, write):
    corpus = build(write("a.txt", "Die Maße der Masse. Der Arm ist arm.\n"), tmp_path / "s", lang="de")
    assert corpus.options.case == "keep"
    assert [corpus.count(key) for key in ("Maß", "Masse", "Arm", "arm")] == [1, 1, 1, 1]
    folded = build(write("a.txt", "Der Arm ist arm.\n"), tmp_path / "s", lang="de", case="fold")
    assert folded.count("arm") == 2


TEXTS = {
    "en": "The lion is the only cat that lives in large groups. It sleeps for most of the day and hunts at night.",
    "de": "Der Löwe ist die einzige Katze, die in großen Gruppen lebt. Er schläft den größten Teil des Tages.",
    "fr": "Le lion est le seul félin qui vit en grands groupes. Il dort la plus grande partie de la journée.",
    "zh": "狮子是唯一一种群居的猫科动物。它一天中的大部分时间都在睡觉，晚上出去打猎。",
}


def test_a_text_in_another_language_gets_a_warning(tmp_path, write, cli):
    write("c/a.txt", (TEXTS["en"] + "\n") * 3)
    write("c/b.txt", (TEXTS["de"] + "\n") * 3)
    done = cli("index", tmp_path / "c", "--out", tmp_path / "s", "--jobs", 1)
    assert done.code == 0
    assert (
        f"files that do not look like --lang en, and what they look like: {tmp_path}/c/b.txt (de)" in done.err
    )
    entries = json.loads(cli("info", tmp_path / "s", "--json").out)["sources"]
    assert [entry.get("looks_like") for entry in entries] == [None, "de"]


def test_every_profile_is_in_the_table_of_the_docs(pytestconfig):
    table = (pytestconfig.rootpath / "docs" / "corpus.md").read_text()
    for profile in LANGUAGES.values():
        assert f"| {profile.name} (`{profile.code}`) |" in table
