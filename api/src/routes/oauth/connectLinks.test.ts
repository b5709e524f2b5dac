import type { CredentialSummary, ServerSnapshot } from '@behalf/gateway';
import { createKeyring, systemRandom } from '@behalf/kernel';
import { aPrincipal, createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { createConnectLinks } from './connect.ts';

const MINUTE_MS = 60_000;

describe('links to the page where a user connects a server', () => {
  function rig(own: CredentialSummary[] = []) {
    const clock = createFakeClock();
    const keyring = createKeyring([Buffer.alloc(32, 1)], systemRandom);
    const registry = {
      find: (_tenant: string, name: string) => ({ id: `id of ${name}` }) as ServerSnapshot,
    };
    const vault = { list: async () => own };
    const links = createConnectLinks({ keyring, clock, registry, vault });
    const referenceOf = (path: string) => new URL(path, 'http://x').searchParams.get('for') ?? '';
    return { clock, links, own, referenceOf };
  }

  const ada = aPrincipal({ userId: 'ada' });
  const bob = aPrincipal({ userId: 'bob' });

  test('one counts for its user, its server and its time', async () => {
    const { clock, links, referenceOf } = rig();
    const path = links.buildConnectPath(ada, 'my notes');
    expect(path).toMatch(/^\/servers\/my%20notes\?for=/);
    const reference = referenceOf(path);
    expect(reference).not.toContain('ada');
    const judged = {
      theirs: links.validate(ada, 'my notes', reference),
      others: links.validate(bob, 'my notes', reference),
      otherTenant: links.validate(aPrincipal({ userId: 'ada', tenant: 'other' }), 'my notes', reference),
      otherServer: links.validate(ada, 'mail', reference),
      longer: links.validate(
        ada,
        'my notes',
        reference.replace(/^[^.]+/, (until) => `${until}z`),
      ),
      garbage: links.validate(ada, 'my notes', 'garbage'),
    };
    expect(judged).toEqual({
      theirs: 'valid',
      ...{ others: 'foreign', otherTenant: 'foreign', otherServer: 'foreign' },
      ...{ longer: 'foreign', garbage: 'foreign' },
    });
    await clock.advance(29 * MINUTE_MS);
    expect(links.validate(ada, 'my notes', reference)).toBe('valid');
    await clock.advance(31 * MINUTE_MS);
    expect([links.validate(ada, 'my notes', reference), links.validate(bob, 'my notes', reference)]).toEqual([
      'expired',
      'foreign',
    ]);
  });

  test('a card has one name until the sign-in or its end is counted', async () => {
    const credential = { id: 'c', generation: 1 } as CredentialSummary;
    const { links, own } = rig();
    const first = await links.computeElicitationId(ada, 'notes');
    expect(await links.computeElicitationId(ada, 'notes')).toBe(first);
    own.push(credential);
    const second = await links.computeElicitationId(ada, 'notes');
    own[0] = { ...credential, generation: 2 };
    const names = [
      first,
      second,
      await links.computeElicitationId(ada, 'notes'),
      await links.computeElicitationId(ada, 'mail'),
    ];
    expect(new Set([...names, await links.computeElicitationId(bob, 'notes')]).size).toBe(5);
  });
});
