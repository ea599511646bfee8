//! Unicode's form NFC, of which std has nothing: a name that two keyboards write in two ways is one user's.

use crate::unicode::{CLASSES, DECOMPOSED};
use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::OnceLock;

const SYLLABLES: u32 = 0xac00; // of Hangul, which are computed
const LEADS: u32 = 0x1100;
const VOWELS: u32 = 0x1161;
const TAILS: u32 = 0x11a7; // one before the first, for none
const MANY: [u32; 3] = [19, 21, 28];
const UNCHANGED: u32 = 0x300; // all characters below this stand as they are

struct Forms {
    parts: HashMap<u32, (u32, Option<u32>)>,
    wholes: HashMap<(u32, u32), u32>,
    classes: Vec<(RangeInclusive<u32>, u8)>,
}

fn code(digits: &str) -> u32 {
    u32::from_str_radix(digits, 16).expect("the lines hold hexadecimal numbers")
}

fn forms() -> &'static Forms {
    static FORMS: OnceLock<Forms> = OnceLock::new();
    FORMS.get_or_init(|| {
        let (mut parts, mut wholes, mut classes) = (HashMap::new(), HashMap::new(), Vec::new());
        for line in DECOMPOSED {
            let (first, entries) = line.split_once(' ').expect("a line has entries");
            for (own, entry) in (code(first)..).zip(entries.split(' ')) {
                let Some((one, two)) = entry.split_once('.') else {
                    parts.insert(own, (code(entry), None));
                    continue;
                };
                let (one, other) = (code(one), code(two.trim_end_matches('!')));
                parts.insert(own, (one, Some(other)));
                if !two.ends_with('!') {
                    wholes.insert((one, other), own);
                }
            }
        }
        for line in CLASSES {
            let (class, ranges) = line.split_once(' ').expect("a class has ranges");
            for (first, last) in ranges.split(' ').filter_map(|range| range.split_once('-')) {
                classes.push((code(first)..=code(last), code(class) as u8));
            }
        }
        Forms { parts, wholes, classes }
    })
}

impl Forms {
    fn class(&self, of: u32) -> u8 {
        self.classes.iter().find(|(range, _)| range.contains(&of)).map_or(0, |(_, class)| *class)
    }

    fn decompose(&self, of: u32, to: &mut Vec<u32>) {
        let syllable = of.wrapping_sub(SYLLABLES);
        if syllable < MANY[0] * MANY[1] * MANY[2] {
            to.extend([LEADS + syllable / (MANY[1] * MANY[2]), VOWELS + syllable / MANY[2] % MANY[1]]);
            to.extend((syllable % MANY[2] > 0).then_some(TAILS + syllable % MANY[2]));
        } else if let Some((one, two)) = self.parts.get(&of) {
            self.decompose(*one, to);
            to.extend(two); // the second part has no parts
        } else {
            to.push(of);
        }
    }

    fn composed(&self, one: u32, two: u32) -> Option<u32> {
        let (lead, vowel) = (one.wrapping_sub(LEADS), two.wrapping_sub(VOWELS));
        if lead < MANY[0] && vowel < MANY[1] {
            return Some(SYLLABLES + (lead * MANY[1] + vowel) * MANY[2]);
        }
        let (syllable, tail) = (one.wrapping_sub(SYLLABLES), two.wrapping_sub(TAILS));
        if syllable < MANY[0] * MANY[1] * MANY[2] && syllable % MANY[2] == 0 && (1..MANY[2]).contains(&tail) {
            return Some(one + tail);
        }
        self.wholes.get(&(one, two)).copied()
    }
}

/// A text in the form NFC.
pub fn normal(text: &str) -> String {
    if text.chars().all(|each| u32::from(each) < UNCHANGED) {
        return text.to_owned();
    }
    let (forms, mut apart) = (forms(), Vec::new());
    text.chars().for_each(|each| forms.decompose(each.into(), &mut apart));
    for run in apart.chunk_by_mut(|_, next| forms.class(*next) > 0) {
        run.sort_by_key(|each| forms.class(*each)); // stable; what is of class 0 stands first
    }
    let (mut made, mut starter, mut before) = (Vec::<u32>::new(), None, 0);
    for each in apart {
        let class = forms.class(each);
        let open = starter.filter(|place| before < class || (before == 0 && *place + 1 == made.len()));
        if let Some((place, whole)) = open.and_then(|place: usize| Some((place, forms.composed(made[place], each)?))) {
            made[place] = whole;
            continue;
        }
        if class == 0 {
            starter = Some(made.len());
        }
        before = class;
        made.push(each);
    }
    made.into_iter().filter_map(char::from_u32).collect()
}

#[cfg(test)]
mod tests {
    use super::normal;

    #[test]
    fn a_name_has_one_form() {
        let names = ["Zoe\u{308}", "a\u{323}\u{302}", "a\u{302}\u{323}", "\u{1100}\u{1161}\u{11a8}", "\u{212b}"];
        let known = ["Zo\u{eb}", "\u{1ead}", "\u{1ead}", "\u{ac01}", "\u{c5}"];
        assert_eq!(names.map(normal), known);
        let apart = ["\u{958}", "\u{344}", "e\u{327}\u{301}", "\u{308}", "a\u{345}\u{301}"].map(normal);
        assert_eq!(apart, ["\u{915}\u{93c}", "\u{308}\u{301}", "\u{229}\u{301}", "\u{308}", "\u{e1}\u{345}"]);
    }
}
