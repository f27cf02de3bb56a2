//! Which network addresses belong to the public internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address is one of the public internet: not private, loopback, link-local,
/// shared, documentation, benchmarking, multicast or reserved space (IANA's special-purpose
/// registries, RFC 6890), also where it is wrapped in an IPv6 address.
#[must_use]
pub fn is_global_address(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => is_global_v4(v4),
        IpAddr::V6(v6) => is_global_v6(v6),
    }
}

fn is_global_v4(v4: Ipv4Addr) -> bool {
    let [a, b, c, _] = v4.octets();
    let special = a == 0
        || a >= 224
        || v4.is_private()
        || v4.is_loopback()
        || v4.is_link_local()
        || v4.is_documentation()
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (b == 18 || b == 19));
    !special
}

fn is_global_v6(v6: Ipv6Addr) -> bool {
    let segments = v6.segments();
    let embedded = |high: u16, low: u16| {
        is_global_v4(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low)))
    };
    // IPv4-mapped, NAT64 and 6to4 addresses lead to the IPv4 address that is in them.
    if segments[..5] == [0; 5] && segments[5] == 0xffff {
        return embedded(segments[6], segments[7]);
    }
    if segments[..6] == [0x64, 0xff9b, 0, 0, 0, 0] {
        return embedded(segments[6], segments[7]);
    }
    if segments[0] == 0x2002 {
        return embedded(segments[1], segments[2]);
    }
    let global_unicast = segments[0] & 0xe000 == 0x2000;
    let special = match segments[0] {
        0x2001 => segments[1] < 0x200 || segments[1] == 0xdb8,
        first => first == 0x3fff,
    };
    global_unicast && !special
}

#[cfg(test)]
mod tests {
    use super::is_global_address;

    #[test]
    fn special_addresses_are_not_global() {
        for text in [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "127.0.0.1",
            "127.9.9.9",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.0.2.1",
            "192.168.1.1",
            "198.18.0.1",
            "203.0.113.9",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::7f00:1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "fe80::1",
            "fc00::1",
            "fd12::1",
            "ff02::1",
            "2001:db8::1",
            "2001::1",
            "3fff::1",
            "100::1",
        ] {
            assert!(!is_global_address(text.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn public_addresses_are_global() {
        for text in [
            "1.1.1.1",
            "9.9.9.9",
            "100.63.0.1",
            "172.15.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "198.17.0.1",
            "223.255.255.254",
            "2606:4700::1111",
            "2a00:1450::1",
            "64:ff9b::101:101",
            "::ffff:1.1.1.1",
            "2002:101:101::",
        ] {
            assert!(is_global_address(text.parse().unwrap()), "{text}");
        }
    }
}
