import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createEgressRig, PUBLIC, reasonOf } from '../test/rig.ts';
import { findRange, formatAddress, parseAddress } from './address.ts';

/** At least the first, the last and one inner address of every range, by the name of the range. */
const special: readonly [range: string, ...addresses: string[]][] = [
  ['this-network', '0.0.0.0', '0.1.2.3', '0.255.255.255'],
  ['private', '10.0.0.0', '10.1.2.3', '10.255.255.255'],
  ['private-172', '172.16.0.0', '172.20.0.5', '172.31.255.255'],
  ['private-192', '192.168.0.0', '192.168.1.1', '192.168.255.255'],
  ['carrier-nat', '100.64.0.0', '100.100.100.200', '100.127.255.255'],
  ['loopback', '127.0.0.0', '127.0.0.1', '127.255.255.255', '::ffff:127.0.0.1', '::ffff:7f00:1'],
  ['cloud-platform', '168.63.129.16'],
  ['link-local', '169.254.0.0', '169.254.169.254', '169.254.255.255', '::ffff:169.254.169.254'],
  ['protocol-assignments', '192.0.0.0', '192.0.0.192', '192.0.0.255'],
  ['documentation-1', '192.0.2.0', '192.0.2.255'],
  ['documentation-2', '198.51.100.0', '198.51.100.255'],
  ['documentation-3', '203.0.113.0', '203.0.113.255'],
  ['6to4-relay', '192.88.99.0', '192.88.99.255'],
  ['benchmark', '198.18.0.0', '198.19.255.255'],
  ['multicast', '224.0.0.0', '239.255.255.255'],
  ['reserved', '240.0.0.0', '255.255.255.254'],
  ['broadcast', '255.255.255.255'],
  ['unspecified', '::', '0:0:0:0:0:0:0:0'],
  ['loopback-v6', '::1', '0:0:0:0:0:0:0:1'],
  ['v4-compatible', '::2', '::127.0.0.1', '::8.8.8.8', '::ffff:ffff'],
  ['v4-translated', '::ffff:0:10.0.0.1', '::ffff:0:8.8.8.8'],
  // NAT64: what it hides is judged.
  ['private', '64:ff9b::10.0.0.1', '64:ff9b::a00:1'],
  ['loopback', '64:ff9b::127.0.0.1'],
  ['link-local', '64:ff9b::169.254.169.254'],
  ['nat64-local', '64:ff9b:1::', '64:ff9b:1::8.8.8.8', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff'],
  ['discard', '100::', '100::ffff:ffff:ffff:ffff'],
  ['teredo', '2001::', '2001:0:4136:e378:8000:63bf:3fff:fdd2', '2001:0:ffff:ffff:ffff:ffff:ffff:ffff'],
  [
    'protocol-assignments-v6',
    '2001:2::1',
    '2001:10::1',
    '2001:20::1',
    '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff',
  ],
  ['documentation-v6', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['documentation-v6-2', '3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['6to4', '2002::', '2002:7f00:1::', '2002:a00:1::1', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['unique-local', 'fc00::', 'fd00:ec2::254', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['link-local-v6', 'fe80::', 'fe80::1', 'fe80::1%eth0', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['site-local', 'fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['multicast-v6', 'ff00::', 'ff02::1', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['unassigned-v6', '100:0:0:1::1', '200::1', '1fff::1', '4000::1', '5f00::1', 'fbff::1', 'fe00::1'],
];

/** Public addresses, the neighbours of the ranges above among them. */
const publicAddresses = [
  '1.0.0.0',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '168.63.129.15',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.0',
  '192.0.3.0',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '::ffff:8.8.8.8',
  '64:ff9b::8.8.8.8',
  '2001:200::1',
  '2001:4860:4860::8888',
  '2003::1',
  '2606:4700::1111',
  '3ffe:ffff::1',
  '3fff:1000::1',
];

describe('addresses', () => {
  for (const [range, ...addresses] of special) {
    test(`${range} is refused, as literal and behind a name`, async () => {
      for (const address of addresses) {
        expect({ address, range: findRange(parseAddress(address)!)?.name }).toEqual({ address, range });
        const { egress, dials } = createEgressRig({ dns: { 'name.example': [address] } });
        for (const audience of ['user-server', 'yaml-server', 'identity'] as const) {
          const fetch = egress.fetchFor({ audience });
          expect(await reasonOf(fetch('https://name.example/'))).toBe('private_address');
          // A zone has no place in a URL.
          const literal = address.includes(':') ? `[${address.split('%')[0]!}]` : address;
          expect(await reasonOf(fetch(`http://${literal}/`))).toBe('private_address');
        }
        expect(dials).toEqual([]);
      }
    });
  }

  test('public addresses, also right beside a special range, are dialled', async () => {
    for (const address of publicAddresses) {
      const { egress, dials } = createEgressRig({ dns: { 'name.example': [address] } });
      expect(await reasonOf(egress.fetchFor({ audience: 'user-server' })('https://name.example/'))).toBe(
        'connection_failed',
      );
      expect(dials.map((target) => target.address)).toEqual([formatAddress(parseAddress(address)!)]);
    }
  });

  const octet = fc.integer({ min: 0, max: 255 });
  const privateV4 = fc.oneof(
    fc.tuple(fc.constant(10), octet, octet, octet),
    fc.tuple(fc.constant(127), octet, octet, octet),
    fc.tuple(fc.constant(169), fc.constant(254), octet, octet),
    fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), octet, octet),
    fc.tuple(fc.constant(192), fc.constant(168), octet, octet),
    fc.tuple(fc.constant(100), fc.integer({ min: 64, max: 127 }), octet, octet),
  );

  test('a private IPv4 address in any IPv6 clothing is refused', () => {
    const shape = fc.constantFrom(
      '::ffff:',
      '::',
      '::ffff:0:',
      '64:ff9b::',
      '64:ff9b:1::',
      '2002:',
      '2001::',
    );
    fc.assert(
      fc.property(privateV4, shape, fc.boolean(), fc.boolean(), (v4, prefix, dotted, upper) => {
        const hex = (high: number, low: number) => ((high << 8) | low).toString(16);
        const groups = `${hex(v4[0], v4[1])}:${hex(v4[2], v4[3])}`;
        // 6to4 carries it behind its prefix, Teredo inverted at the end.
        const inverted = `${hex(v4[0] ^ 255, v4[1] ^ 255)}:${hex(v4[2] ^ 255, v4[3] ^ 255)}`;
        const text =
          prefix === '2002:'
            ? `2002:${groups}::1`
            : prefix === '2001::'
              ? `2001:0:1:2:3:4:${inverted}`
              : prefix + (dotted ? v4.join('.') : groups);
        const address = parseAddress(upper ? text.toUpperCase() : text);
        expect(address && findRange(address)).toBeDefined();
      }),
    );
  });

  test('the URL parser has no spelling of a private address that passes', async () => {
    const number = ([a, b, c, d]: readonly number[]) => ((a! << 24) | (b! << 16) | (c! << 8) | d!) >>> 0;
    await fc.assert(
      fc.asyncProperty(privateV4, fc.integer({ min: 0, max: 5 }), async (v4, spelling) => {
        const host = [
          () => v4.join('.'),
          () => String(number(v4)),
          () => `0x${number(v4).toString(16)}`,
          () => v4.map((part) => `0${part.toString(8)}`).join('.'),
          () => `${v4[0]}.0x${((v4[1] << 16) | (v4[2] << 8) | v4[3]).toString(16)}`,
          () => `${v4.join('.')}.`,
        ][spelling]!();
        const { egress, dials } = createEgressRig();
        const reason = await reasonOf(egress.fetchFor({ audience: 'user-server' })(`http://${host}/`));
        expect([host, reason, dials]).toEqual([host, 'private_address', []]);
      }),
      { numRuns: 60 },
    );
  });

  test('loose spellings are no addresses, wherever they come from', async () => {
    const loose = [
      '127.1',
      '0x7f.0.0.1',
      '0177.0.0.1',
      '2130706433',
      '127.0.0.1.',
      ' 127.0.0.1',
      '1.2.3.256',
      '1.2.3.04',
    ];
    const broken = [
      ':::',
      '1::2::3',
      '1:2:3:4:5:6:7',
      '1:2:3:4:5:6:7:8:9',
      '12345::',
      'g::',
      '::1%',
      '::1%a%b',
      '1.2.3.4::',
    ];
    for (const text of [...loose, ...broken]) {
      expect([text, parseAddress(text)]).toEqual([text, undefined]);
      const { egress, dials } = createEgressRig({ dns: { 'name.example': [PUBLIC, text] } });
      const reason = await reasonOf(egress.fetchFor({ audience: 'user-server' })('http://name.example/'));
      expect([text, reason, dials]).toEqual([text, 'dns_failed', []]);
    }
  });

  test('writes what it read', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
        const address = parseAddress(text)!;
        expect(parseAddress(formatAddress(address))).toEqual(address);
      }),
    );
  });
});
