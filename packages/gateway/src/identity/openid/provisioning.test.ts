import { systemRandom as random } from '@behalf/kernel';
import { afterEach, describe, expect, test } from '@jest/globals';
import { adaAccount, createCountedPasswords } from '../../../test/identityRig.ts';
import { createOpenIdRig, type OpenIdRig } from '../../../test/openidRig.ts';
import { createAccounts } from '../accounts.ts';
import type { OpenIdSettings } from './provider.ts';

const open: OpenIdRig[] = [];
const HOUR_MS = 60 * 60 * 1000;

async function createRig(overrides: Partial<OpenIdSettings> = {}) {
  const rig = await createOpenIdRig(overrides);
  open.push(rig);
  const received: string[] = [];
  rig.store.changes.subscribe(({ topic, id }) => received.push(`${topic} ${id}`));
  /** The account of whom a token with these claims shows. */
  const userWith = async (claims: Record<string, unknown> = {}) =>
    rig.provisioning.userFor(await rig.verifier.verify(await rig.token(claims)));
  /** Of the next second's token: only a younger one changes a role. */
  const roleWith = async (claims: Record<string, unknown>) => {
    await rig.clock.advance(1_000);
    return (await userWith(claims))?.role;
  };
  return { ...rig, received, userWith, roleWith };
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((rig) => rig.close()));
});

describe('accounts of the identity provider', () => {
  test('somebody new gets an account, once', async () => {
    const { userWith, store, issuer, clock, events, received } = await createRig();
    const user = await userWith({ email: 'ada@example.com', name: 'Ada' });
    expect(user).toEqual({
      id: expect.any(String),
      tenant: 'default',
      issuer: issuer.url,
      subject: 'ada',
      email: 'ada@example.com',
      name: 'Ada',
      role: 'USER',
      roleSource: 'claim',
      roleConfirmedAt: clock.now(),
      disabledAt: null,
      signedOutAt: null,
      passwordSealed: null,
      createdAt: clock.now(),
      updatedAt: clock.now(),
    });
    expect(await userWith({ email: 'ada@example.com', name: 'Ada' })).toEqual(user);
    expect(await store.users.count()).toBe(1);
    expect(received).toEqual([`users ${user!.id}`]);
    expect(events).toMatchObject([{ kind: 'sign_in', action: 'user.create', subject: user!.id }]);
  });

  test('two replicas at once make one account', async () => {
    const { store, provisioning, verifier, token, events } = await createRig();
    const verified = await verifier.verify(await token());
    const all = await Promise.all(Array.from({ length: 5 }, () => provisioning.userFor(verified)));
    expect(new Set(all.map((user) => user?.id)).size).toBe(1);
    expect(all[0]).not.toBeNull();
    expect(await store.users.count()).toBe(1);
    expect(events.filter(({ action }) => action === 'user.create')).toHaveLength(1);
  });

  test('an email joins nobody to an account that exists', async () => {
    const { store, keyring, clock, userWith } = await createRig();
    const accounts = createAccounts({
      ...{ users: store.users, changes: store.changes, keyring, clock, random },
      passwords: createCountedPasswords(),
    });
    const local = await accounts.create({ ...adaAccount, role: 'ADMIN' });
    const federated = await userWith({ email: adaAccount.email });
    expect(federated?.id).not.toBe(local.id);
    expect(federated?.role).toBe('USER');
    const other = await userWith({ sub: 'eve', email: adaAccount.email });
    expect(other?.id).not.toBe(federated?.id);
    expect(await store.users.findById(local.id)).toEqual(local);
  });

  test('the same subject in another tenant is somebody else', async () => {
    const { userWith } = await createRig({ tenantClaim: 'org' });
    const one = await userWith({ org: 'one' });
    const two = await userWith({ org: 'two' });
    expect([one?.tenant, two?.tenant]).toEqual(['one', 'two']);
    expect(one?.id).not.toBe(two?.id);
  });

  test('the claim names the role, and a role nobody has is none', async () => {
    const { roleWith, roles } = await createRig();
    roles.add('editor').add('author');
    expect(await roleWith({})).toBe('USER');
    expect(await roleWith({ roles: ['editor'] })).toBe('editor');
    expect(await roleWith({ roles: 'editor' })).toBe('editor');
    expect(await roleWith({ roles: ['nobody', 'USER', 'editor', 'author'] })).toBe('author');
    expect(await roleWith({ roles: ['Editor', 'nobody'] })).toBe('USER');
    expect(await roleWith({ roles: ['editor', 'ADMIN'] })).toBe('ADMIN');
    expect(await roleWith({ roles: ['admin'] })).toBe('USER');
  });

  test('a role of another tenant is none here', async () => {
    const { roleWith, roles } = await createRig({ tenantClaim: 'org' });
    roles.add('editor');
    expect(await roleWith({ org: 'acme', roles: ['editor'] })).toBe('USER');
  });

  test('OPENID_ADMIN_ROLE makes an administrator, in its own claim', async () => {
    const { roleWith } = await createRig({
      adminRole: { values: ['gateway-admins'], claim: 'teams', from: 'id' },
    });
    expect(await roleWith({ teams: ['gateway-admins'] })).toBe('ADMIN');
    expect(await roleWith({ roles: ['gateway-admins'] })).toBe('USER');
    expect(await roleWith({ teams: ['gateway-admins-not'] })).toBe('USER');
    // With a role of its own for administrators, the plain word is nobody's.
    expect(await roleWith({ roles: ['ADMIN'] })).toBe('USER');
    expect(await roleWith({ roles: ['ADMIN'], teams: ['gateway-admins'] })).toBe('ADMIN');
  });

  test('without the required role nobody gets an account', async () => {
    const { userWith, store, callers, token } = await createRig({
      requiredRole: { values: ['staff', 'guest'], claim: 'roles', from: 'id' },
    });
    expect(await userWith({ roles: ['other'] })).toBeNull();
    expect(await userWith()).toBeNull();
    expect(await callers.resolve(await token({ sub: 'app' }))).toBeNull();
    expect(await store.users.count()).toBe(0);
    expect(await userWith({ roles: ['guest'] })).not.toBeNull();
  });

  test('a disabled account lets nobody in, and stays as it is', async () => {
    const { userWith, store, clock, callers, token } = await createRig();
    const user = (await userWith())!;
    await store.users.update(user.id, { disabledAt: clock.now() }, clock.now());
    expect(await userWith({ roles: ['ADMIN'] })).toBeNull();
    expect(await callers.resolve(await token({ roles: ['ADMIN'] }))).toBeNull();
    expect(await store.users.findById(user.id)).toMatchObject({ role: 'USER' });
  });

  test('a role by claim is what the last token says', async () => {
    const { roleWith, store, events, received, clock } = await createRig();
    expect(await roleWith({ roles: ['ADMIN'] })).toBe('ADMIN');
    expect(await roleWith({ roles: [] })).toBe('USER');
    const [stored] = await store.users.list('default', { after: null, limit: 1 });
    expect(stored).toMatchObject({ role: 'USER', roleSource: 'claim', roleConfirmedAt: clock.now() });
    expect(received).toHaveLength(2);
    expect(events.at(-1)).toMatchObject({
      kind: 'sign_in',
      action: 'role.claim',
      subject: stored!.id,
      changed: ['ADMIN', 'USER'],
    });
  });

  test('an older token shown again gives back nothing', async () => {
    const { provisioning, verifier, token, store, clock, events } = await createRig();
    const shown = async (text: string) => provisioning.userFor(await verifier.verify(text));
    const before = await token({ roles: ['ADMIN'], email: 'ada@old.example' });
    expect(await shown(before)).toMatchObject({ role: 'ADMIN' });
    await clock.advance(1_000);
    const after = await token({ roles: [], email: 'ada@new.example' });
    expect(await shown(after)).toMatchObject({ role: 'USER', email: 'ada@new.example' });
    const { id, updatedAt } = (await shown(after))!;
    await clock.advance(1_000);
    // Both are valid for minutes to come.
    for (const text of [before, after, before]) {
      expect(await shown(text)).toMatchObject({ role: 'USER', email: 'ada@new.example' });
    }
    expect(await store.users.findById(id)).toMatchObject({ role: 'USER', updatedAt });
    expect(events.map(({ action }) => action)).toEqual(['user.create', 'role.claim']);
  });

  test('two tokens of one second do not take turns', async () => {
    const { userWith, store, received } = await createRig();
    const [one, other] = [
      { roles: ['ADMIN'], name: 'One' },
      { roles: [], name: 'Other' },
    ];
    const { id } = (await userWith(other))!;
    for (const claims of [one, other, one]) {
      expect(await userWith(claims)).toMatchObject({ role: 'USER', name: 'Other' });
    }
    expect(await store.users.findById(id)).toMatchObject({ role: 'USER', name: 'Other' });
    expect(received).toHaveLength(1);
  });

  test('a token that does not tell its age changes no role', async () => {
    const { userWith, clock } = await createRig();
    const ageless = (roles: string[]) => userWith({ roles, iat: undefined });
    expect(await ageless([])).toMatchObject({ role: 'USER', roleConfirmedAt: 0 });
    await clock.advance(1_000);
    expect(await ageless(['ADMIN'])).toMatchObject({ role: 'USER' });
    expect(await userWith({ roles: ['ADMIN'] })).toMatchObject({ role: 'ADMIN' });
    expect(await ageless([])).toMatchObject({ role: 'ADMIN' });
    expect(await userWith({ roles: [], iat: -1e300 })).toMatchObject({ role: 'ADMIN' });
  });

  test('a role that an administrator gave is changed by no token', async () => {
    const { userWith, store, clock } = await createRig();
    const { id } = (await userWith())!;
    const byHand = { role: 'editor', roleSource: 'manual', roleConfirmedAt: null } as const;
    await store.users.update(id, byHand, clock.now());
    await clock.advance(2 * HOUR_MS);
    expect(await userWith({ roles: ['ADMIN'], name: 'Ada L.' })).toMatchObject({
      ...byHand,
      name: 'Ada L.',
    });
    expect(await store.users.findById(id)).toMatchObject({ ...byHand, name: 'Ada L.' });
  });

  test('an administrator who decides meanwhile wins', async () => {
    const { userWith, store, verifier, token, provisioning, clock, events } = await createRig();
    const { id } = (await userWith())!;
    await clock.advance(1_000);
    const verified = await verifier.verify(await token({ roles: ['ADMIN'] }));
    const byHand = { role: 'reader', roleSource: 'manual', roleConfirmedAt: null } as const;
    const update = store.users.update.bind(store.users);
    store.users.update = async (...args) => {
      store.users.update = update;
      await update(id, byHand, clock.now());
      return update(...args);
    };
    expect(await provisioning.userFor(verified)).toMatchObject(byHand);
    expect(await store.users.findById(id)).toMatchObject(byHand);
    expect(events.map(({ action }) => action)).toEqual(['user.create']);
  });

  test('the same token again and again writes once an hour', async () => {
    const { userWith, store, clock, received } = await createRig();
    const first = (await userWith())!;
    const writes: unknown[] = [];
    const update = store.users.update.bind(store.users);
    store.users.update = async (...args) => {
      writes.push(args[1]);
      return update(...args);
    };
    await clock.advance(HOUR_MS - 1_000);
    await userWith();
    expect(writes).toEqual([]);
    await clock.advance(1_000);
    expect(await userWith()).toEqual({ ...first, roleConfirmedAt: clock.now(), updatedAt: clock.now() });
    await userWith();
    expect(writes).toEqual([{ roleConfirmedAt: clock.now() }]);
    expect(received).toHaveLength(1);
  });

  test('email and name follow the provider, and are not lost', async () => {
    const { userWith, clock } = await createRig();
    await userWith();
    // What was left out is filled in at once.
    expect(await userWith({ email: 'ada@example.com', name: 'Ada' })).toMatchObject({ name: 'Ada' });
    await clock.advance(1_000);
    expect(await userWith({ email: 'ada@new.example', name: 'Ada L.' })).toMatchObject({
      email: 'ada@new.example',
      name: 'Ada L.',
    });
    await clock.advance(1_000);
    expect(await userWith()).toMatchObject({ email: 'ada@new.example', name: 'Ada L.' });
    // A name to sign in with is not an address, whatever it looks like.
    const like = { name: undefined, preferred_username: 'boss@example.com', upn: 'boss@example.com' };
    expect(await userWith(like)).toMatchObject({ email: 'ada@new.example', name: 'boss@example.com' });
  });

  test('what cannot be audited is not acknowledged', async () => {
    const { provisioning, verifier, token, events } = await createRig();
    events.push = () => {
      throw new Error('no room');
    };
    await expect(provisioning.userFor(await verifier.verify(await token()))).rejects.toThrow('no room');
  });
});

describe('callers with a bearer token', () => {
  test('a user’s token is the user, with its groups', async () => {
    const { callers, token, store, issuer, clock } = await createRig({ groupsClaim: 'groups' });
    const known = await callers.resolve(await token({ groups: ['g1'], email: 'ada@example.com' }));
    const user = await store.users.findByIdentity('default', issuer.url, 'ada');
    expect(known).toEqual({
      caller: {
        kind: 'user',
        userId: user!.id,
        tenant: 'default',
        role: 'USER',
        email: 'ada@example.com',
        name: 'ada@example.com',
        issuer: issuer.url,
        groups: ['g1'],
        authentication: {
          via: 'bearer',
          token: expect.anything(),
          scopes: ['mcp'],
          expiresAt: clock.now() + 330_000,
        },
      },
      until: clock.now() + 330_000,
    });
    expect(await callers.resolve('nonsense')).toBeNull();
  });

  test('a program is no user, and never an administrator', async () => {
    const { callers, token, store, roles, issuer } = await createRig({
      adminRole: { values: ['boss'], claim: 'roles', from: 'access' },
    });
    roles.add('robot');
    const serviceWith = async (claimedRoles: string[]) =>
      (await callers.resolve(await token({ sub: 'app', roles: claimedRoles })))?.caller;
    const service = await serviceWith(['ADMIN', 'boss', 'robot']);
    expect(service).toMatchObject({ kind: 'service', role: 'robot', email: '', name: 'app' });
    expect(service?.issuer).toBe(issuer.url);
    expect(service?.userId).toMatch(/^service:[\w-]{43}$/);
    expect(await serviceWith(['ADMIN', 'boss'])).toMatchObject({ role: '' });
    expect(await serviceWith([])).toMatchObject({ role: '', userId: service?.userId });
    expect(await store.users.count()).toBe(0);
  });

  test('a provider that cannot be asked makes nobody a stranger', async () => {
    const { callers, token, issuer } = await createRig();
    issuer.failingPaths.set('/jwks', 500);
    await expect(callers.resolve(await token())).rejects.toMatchObject({ code: 'OPENID_UNAVAILABLE' });
  });
});
