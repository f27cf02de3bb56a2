//! Our writer, called as a run calls it.

use pagelog::archive::{
    Archive, ArchiveError, EncodedPage, Heads, LeakGuard, NewCommit, Replaced, Writer,
};
use pagelog::model::{Timestamp, Visibility};

use super::pages::{self, Ready};

/// Writes the pages as the first commit of an archive.
pub fn write(archive: &Archive, pages: &[Ready]) {
    write_pages(archive, pages).expect("pages are written");
}

fn write_pages(archive: &Archive, pages: &[Ready]) -> Result<(), ArchiveError> {
    let guard = LeakGuard::new([]);
    let mut writer = Writer::new(archive, Heads::default())?;
    let encode = |encoder: &mut pagelog::archive::Encoder, ready: &Ready| {
        encoder.encode(&ready.entry, (&ready.page, &ready.links), Visibility::Public, &guard)
    };
    let put = |ready: &Ready, encoded: Result<EncodedPage, ArchiveError>| {
        let replaced = writer.put(&ready.entry, encoded.expect("a page is encoded"));
        assert_eq!(replaced.expect("a page is put"), Replaced::Nothing);
    };
    pages::in_order(pages, (|| Writer::encoder(archive), encode), put);
    for visibility in [Visibility::Public, Visibility::Private] {
        writer.put_root(visibility, &pages::root_files(visibility))?;
    }
    let time = Timestamp::from_unix(pages::STARTED).expect("a time");
    let moves = writer.finish(&NewCommit {
        bot: &pages::bot(),
        started: time,
        ended: time,
        public_message: "Pages\n",
        private_message: "Pages\n",
    })?;
    archive.move_refs(&moves)
}
