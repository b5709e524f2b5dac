import { describe, expect, test } from '@jest/globals';
import { adaAccount, createIdentityRig } from '../../../test/identityRig.ts';
import { toPrincipal, type Authentication } from '../../principal/principal.ts';
import { reloadRunPrincipal } from '../../blocks/runStep.ts';
import { createCallerCache } from '../callerCache.ts';
import { createRevocationMonitor } from '../revocationMonitor.ts';
import { createClientGrants, grantSessionHash } from './clientGrants.ts';

/** A user with a session and two clients. */
async function createRig() {
  const rig = createIdentityRig();
  const { store, sessions, clock } = rig;
  const user = await rig.accounts.create(adaAccount);
  const session = await sessions.start(user);
  const grants = createClientGrants({ sessions, clock });
  const clientOf = async (clientId: string) => {
    await grants.create(user, { grantId: `g-${clientId}`, clientId, from: session.hash, groups: [] });
    return { via: 'bearer', grant: { session: grantSessionHash(`g-${clientId}`), clientId } } as const;
  };
  const by = {
    session: { via: 'session', session: session.hash },
    one: await clientOf('one'),
    other: await clientOf('other'),
  } as const satisfies Record<string, Authentication>;
  const startedAt = clock.now();
  await clock.advance(1_000);
  const runs = (who: Authentication) =>
    reloadRunPrincipal(
      { users: store.users, authenticationStores: store, clock },
      toPrincipal(user, who),
      startedAt,
    ).then(
      () => true,
      () => false,
    );
  return { ...rig, user, grants, by, runs };
}

describe('the end of what one client was granted', () => {
  test('is no sign-out of its user', async () => {
    const { grants, store, user, by, runs, sessions } = await createRig();
    await grants.end('g-one');
    expect(await sessions.find(grantSessionHash('g-one'))).toBeNull();
    expect((await store.users.findById(user.id))?.signedOutAt).toBeNull();
    expect([await runs(by.one), await runs(by.other), await runs(by.session)]).toEqual([false, true, true]);
  });

  test('ends what is held open for it, and nothing else', async () => {
    const { grants, store, user, by, clock } = await createRig();
    const watch = createRevocationMonitor({ ...store, clock, signingKeys: null });
    const over: string[] = [];
    for (const [name, who] of Object.entries(by)) {
      watch.subscribe(toPrincipal(user, who), () => over.push(name));
    }
    await grants.endForClient(user.id, 'one');
    await clock.advance(0);
    expect(over).toEqual(['one']);
    watch.stop();
  });

  test('is known at once wherever its tokens are', async () => {
    const { grants, store, user, by, clock, sessions } = await createRig();
    const cache = createCallerCache({
      async read() {
        const found = await sessions.find(by.one.grant.session);
        return found && { caller: toPrincipal(user, by.one), until: found.expiresAt };
      },
      topic: null,
      changes: store.changes,
      clock,
    });
    expect(await cache.resolve('token')).toMatchObject({ userId: user.id });
    await grants.end('g-one');
    expect(await cache.resolve('token')).toBeNull();
  });
});
