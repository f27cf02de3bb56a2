//! Which packs are rolled up into one: a pure question.
//!
//! Small packs are rolled up so that what remains is a geometric progression: each pack has
//! at least twice the objects of all smaller ones together. An object is then rewritten as
//! often as the number of objects around it has doubled, however many runs there are. Large
//! packs are sealed: they are never rewritten, so that no upkeep costs more than a bound.

/// What is known of a pack without reading it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::archive) struct PackFacts {
    /// Its name, without folder and ending.
    pub name: String,
    /// The objects in it.
    pub objects: u64,
    /// Bytes of the pack.
    pub bytes: u64,
}

/// How much upkeep does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::archive) struct Limits {
    /// Packs of so many bytes are sealed.
    pub sealed: u64,
    /// Packs beyond which something is done, sealed ones left out.
    pub packs: usize,
    /// Bytes that are rolled up even where there are fewer packs.
    pub worthwhile: u64,
    /// Most bytes that are rolled up at once.
    pub most: u64,
}

impl Limits {
    /// Those of every archive.
    pub const STANDARD: Self =
        Self { sealed: 256 << 20, packs: 8, worthwhile: 2 << 20, most: 512 << 20 };

    /// The same, where rolling up so many bytes took too long. Any two packs that are not
    /// sealed can be rolled up together.
    pub fn below(self, bytes: u64) -> Self {
        let most = self.most.min(bytes / 2);
        Self { sealed: self.sealed.min(most / 2), most, ..self }
    }
}

/// Packs that become one, and those that stay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::archive) struct Plan {
    /// The packs that are replaced, smallest first.
    pub rolled: Vec<PackFacts>,
    /// The packs that stay as they are.
    pub staying: Vec<PackFacts>,
}

impl Plan {
    /// Bytes of the packs that are replaced.
    pub fn bytes(&self) -> u64 {
        self.rolled.iter().map(|pack| pack.bytes).sum()
    }
}

/// What is to be done about packs; `None` where nothing is.
pub(in crate::archive) fn plan(packs: Vec<PackFacts>, limits: &Limits) -> Option<Plan> {
    let (mut open, sealed): (Vec<_>, Vec<_>) =
        packs.into_iter().partition(|pack| pack.bytes < limits.sealed);
    open.sort_by(|a, b| (a.objects, &a.name).cmp(&(b.objects, &b.name)));
    let crowded = open.len() > limits.packs;
    let at_once = at_once(&open[..out_of_step(&open)], limits.most);
    let staying = open.split_off(at_once);
    let plan = Plan { rolled: open, staying: [staying, sealed].concat() };
    let worthwhile = crowded || plan.bytes() >= limits.worthwhile;
    (plan.rolled.len() > 1 && worthwhile).then_some(plan)
}

/// How many of the smallest packs have to become one for all to be in progression.
fn out_of_step(packs: &[PackFacts]) -> usize {
    let falls = |at: &usize| packs[*at].objects < packs[*at - 1].objects.saturating_mul(2);
    let Some(last) = (1..packs.len()).rev().find(falls) else { return 0 };
    let mut end = last + 1;
    let mut sum: u64 = packs[..end].iter().map(|pack| pack.objects).sum();
    while let Some(next) = packs.get(end).filter(|next| next.objects < sum.saturating_mul(2)) {
        sum += next.objects;
        end += 1;
    }
    end
}

/// How many of the smallest packs stay below a number of bytes together.
fn at_once(packs: &[PackFacts], most: u64) -> usize {
    let mut sum = 0;
    let fits = |pack: &&PackFacts| {
        sum += pack.bytes;
        sum <= most
    };
    packs.iter().take_while(fits).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SMALL: Limits = Limits { sealed: 1000, packs: 4, worthwhile: 500, most: 2000 };

    fn packs(objects: &[u64]) -> Vec<PackFacts> {
        let pack = |(n, objects): (usize, &u64)| PackFacts {
            name: format!("pack-{n}"),
            objects: *objects,
            bytes: *objects,
        };
        objects.iter().enumerate().map(pack).collect()
    }

    fn objects(packs: &[PackFacts]) -> Vec<u64> {
        packs.iter().map(|pack| pack.objects).collect()
    }

    fn rolled(all: &[u64]) -> Vec<u64> {
        plan(packs(all), &SMALL).map(|plan| objects(&plan.rolled)).unwrap_or_default()
    }

    #[test]
    fn few_packs_and_packs_in_progression_stay() {
        for all in [&[][..], &[1], &[1, 1, 1, 1], &[1, 2, 4, 8, 16, 32], &[5, 999, 400]] {
            assert_eq!(rolled(all), Vec::<u64>::new(), "{all:?}");
        }
    }

    #[test]
    fn what_is_out_of_step_becomes_one() {
        assert_eq!(rolled(&[1, 1, 1, 1, 1]), [1, 1, 1, 1, 1]);
        assert_eq!(rolled(&[900, 1, 1, 1, 1]), [1, 1, 1, 1]);
        // Three together are more than half of the next one.
        assert_eq!(rolled(&[1, 1, 1, 5, 900]), [1, 1, 1, 5]);
        assert_eq!(rolled(&[1, 1, 1, 6, 900]), [1, 1, 1]);
    }

    #[test]
    fn many_bytes_are_rolled_up_although_the_packs_are_few() {
        assert_eq!(rolled(&[250, 250]), [250, 250]);
        assert_eq!(rolled(&[249, 250]), Vec::<u64>::new());
    }

    #[test]
    fn sealed_packs_stay_and_a_roll_up_is_bounded() {
        let all = [1000, 5000, 900, 900, 900];
        let plan = plan(packs(&all), &SMALL).unwrap();
        assert_eq!(objects(&plan.rolled), [900, 900]);
        assert_eq!(objects(&plan.staying), [900, 1000, 5000]);
        let lower = SMALL.below(1800);
        assert_eq!((lower.most, lower.sealed), (900, 450));
    }

    proptest! {
        /// Runs of any sizes: the packs stay few, and the work is that of sorting.
        #[test]
        fn packs_stay_few_and_work_is_bounded(sizes in prop::collection::vec(1_u64..40, 1..300)) {
            let limits = Limits { sealed: u64::MAX, packs: 4, worthwhile: 1000, most: u64::MAX };
            let (mut all, mut work) = (Vec::new(), 0);
            for size in &sizes {
                all.push(*size);
                if let Some(plan) = plan(packs(&all), &limits) {
                    let sum: u64 = objects(&plan.rolled).iter().sum();
                    work += sum;
                    all = objects(&plan.staying);
                    all.push(sum);
                }
                let sum: u64 = all.iter().sum();
                prop_assert!(all.len() <= limits.packs.max(2 + sum.ilog2() as usize));
            }
            let sum: u64 = sizes.iter().sum();
            prop_assert!(work <= sum * u64::from(2 + sum.ilog2()));
        }

        /// Nothing is lost or doubled, nothing sealed is touched, every roll-up leaves fewer.
        #[test]
        fn every_pack_is_told_of_once(all in prop::collection::vec(1_u64..1500, 0..40)) {
            if let Some(plan) = plan(packs(&all), &SMALL) {
                prop_assert!(plan.rolled.len() > 1 && plan.bytes() <= SMALL.most);
                prop_assert!(plan.rolled.iter().all(|pack| pack.bytes < SMALL.sealed));
                let mut told = [plan.rolled, plan.staying].concat();
                told.sort_by_key(|pack| pack.name.clone());
                let mut known = packs(&all);
                known.sort_by_key(|pack| pack.name.clone());
                prop_assert_eq!(told, known);
            }
        }
    }
}
