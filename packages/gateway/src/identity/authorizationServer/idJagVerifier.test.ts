import { afterEach, describe, expect, test } from '@jest/globals';
import { createOpenIdRig, GATEWAY, createOpenIdSettings, type OpenIdRig } from '../../../test/openidRig.ts';
import type { OpenIdSettings } from '../openid/provider.ts';
import { createAuthorizationServerRecords } from './authorizationServerRecords.ts';
import { createIdJagVerifier } from './idJagVerifier.ts';

const open: OpenIdRig[] = [];

/** `tenant`: as if nobody signed in at this issuer, and it spoke for that tenant. */
async function createRig(overrides: Partial<OpenIdSettings> = {}, tenant: string | null = null) {
  const rig = await createOpenIdRig(overrides);
  open.push(rig);
  const { issuer, keys, clock, store, keyring, provisioning, logged } = rig;
  const settings = createOpenIdSettings(issuer.url, overrides);
  const idJags = createIdJagVerifier({
    issuers: new Map([[issuer.url, { keys, settings, tenant }]]),
    audience: () => `${GATEWAY}/as`,
    isResource: (url) => url === `${GATEWAY}/mcp`,
    scope: 'mcp',
    records: createAuthorizationServerRecords({ store: store.authorizationServer, keyring, clock }),
    clock,
    log: (event, { reason }) => void logged.push(`${event} ${String(reason)}`),
  });
  let last = 0;
  async function accept(claims: Record<string, unknown> = {}) {
    // Younger than whatever came before it.
    await clock.advance(1_000);
    last += 1;
    const usual = {
      aud: `${GATEWAY}/as`,
      client_id: 'agent',
      resource: `${GATEWAY}/mcp`,
      jti: `jag-${last}`,
    };
    const expectedClaims = { azp: undefined, scope: undefined };
    const value = await rig.token({ ...usual, ...expectedClaims, ...claims }, { typ: 'oauth-id-jag+jwt' });
    return idJags.accept(value, { clientId: 'agent' });
  }
  async function userBy(claims: Record<string, unknown> = {}) {
    const accepted = await accept(claims);
    return accepted && provisioning.userFor(accepted.verified);
  }
  async function signIn(claims: Record<string, unknown>) {
    await clock.advance(1_000);
    return provisioning.userFor(await rig.verifier.verify(await rig.token(claims)));
  }
  return { ...rig, accept, userBy, signIn };
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((rig) => rig.close()));
});

describe('the role of whom an identity assertion names', () => {
  test('stays as a sign-in left it where the assertion says none', async () => {
    const { signIn, userBy, events } = await createRig();
    expect(await signIn({ roles: ['ADMIN'] })).toMatchObject({ role: 'ADMIN' });
    expect(await userBy()).toMatchObject({ role: 'ADMIN' });
    expect(events.map(({ action }) => action)).toEqual(['user.create']);
  });

  test('is the one that it says, where it says one', async () => {
    const { signIn, userBy } = await createRig();
    await signIn({ roles: ['ADMIN'] });
    expect(await userBy({ roles: [] })).toMatchObject({ role: 'USER' });
    expect(await userBy({ roles: ['ADMIN'] })).toMatchObject({ role: 'ADMIN' });
  });

  test('is decided by half of what decides it at no time', async () => {
    const { signIn, userBy, roles } = await createRig({
      adminRole: { values: ['staff'], claim: 'groups', from: 'access' },
    });
    roles.add('EDITOR');
    await signIn({ roles: ['EDITOR'], groups: ['staff'] });
    expect(await userBy({ roles: ['EDITOR'] })).toMatchObject({ role: 'ADMIN' });
    expect(await userBy({ groups: [] })).toMatchObject({ role: 'ADMIN' });
    expect(await userBy({ roles: ['EDITOR'], groups: [] })).toMatchObject({ role: 'EDITOR' });
  });

  test('is left to the first sign-in of somebody new', async () => {
    const { signIn, userBy } = await createRig();
    expect(await userBy()).toMatchObject({ role: 'USER', roleConfirmedAt: 0 });
    expect(await signIn({ roles: ['ADMIN'] })).toMatchObject({ role: 'ADMIN' });
  });
});

describe('an issuer of identity assertions that nobody signs in at', () => {
  const plain: Partial<OpenIdSettings> = { groupsClaim: 'groups', tenantClaim: 'org' };

  test('says who somebody is, in the tenant that it was given', async () => {
    const { accept, userBy, issuer } = await createRig(plain, 'partners');
    const claims = { roles: ['ADMIN', 'EDITOR'], groups: ['board'], email: 'ada@partner.example' };
    expect((await accept(claims))?.verified).toMatchObject({
      ...{ tenant: 'partners', issuer: issuer.url, subject: 'ada', email: 'ada@partner.example' },
      ...{ roles: [], groups: [], hasAdminRole: false, isAdmitted: true },
    });
    expect(await userBy(claims)).toMatchObject({ tenant: 'partners', role: 'USER' });
  });

  test('makes no administrator by any rule of the login', async () => {
    const adminRole = { values: ['staff'], claim: 'groups', from: 'access' } as const;
    const { userBy } = await createRig({ adminRole }, 'default');
    expect(await userBy({ groups: ['staff'] })).toMatchObject({ role: 'USER' });
  });

  test('is refused when it names one', async () => {
    const { accept, logged } = await createRig(plain, 'partners');
    expect(await accept({ org: 'customers' })).toBeNull();
    // Nor is it better for being the same.
    expect(await accept({ org: 'partners' })).toBeNull();
    expect(logged).toEqual(['id_jag_refused tenant', 'id_jag_refused tenant']);
  });

  test('is held to the allowed tenants where it has any', async () => {
    const { accept } = await createRig({ allowedTenants: ['t1'] }, 'partners');
    const acquired = await Promise.all([
      accept(),
      accept({ jti: 'another', tid: 't1' }),
      accept({ jti: 'a third', tid: 't2' }),
    ]);
    expect(acquired.map((accepted) => accepted !== null)).toEqual([true, true, false]);
  });

  test('is no login: that one names tenants, roles and groups', async () => {
    const { accept } = await createRig(plain);
    const said = { org: 'customers', roles: ['EDITOR'], groups: ['board'] };
    expect((await accept(said))?.verified).toMatchObject({ tenant: 'customers', roles: ['EDITOR'] });
  });
});

describe('an identity assertion', () => {
  test('is refused when it is for more, or for less, than this', async () => {
    const { accept, logged } = await createRig();
    const ours = `${GATEWAY}/as`;
    const wrong: [Record<string, unknown>, string][] = [
      // Only who has the key could show it (RFC 7800), and nobody proves that here.
      [{ cnf: { jkt: 'thumbprint' } }, 'key_bound'],
      [{ aud: [ours, 'https://elsewhere.example'] }, 'audience'],
      [{ aud: [ours, ours] }, 'audience'],
      [{ scope: 'files.read' }, 'scope'],
      [{ scope: '' }, 'scope'],
      [{ scope: 'mcp.read mcpx' }, 'scope'],
      [{ scope: 7 }, 'scope'],
    ];
    for (const [claims] of wrong) expect([claims, await accept(claims)]).toEqual([claims, null]);
    expect(logged).toEqual(wrong.map(([, reason]) => `id_jag_refused ${reason}`));
    for (const claims of [{}, { aud: [ours] }, { scope: 'mcp' }, { scope: 'openid mcp' }]) {
      expect([claims, await accept(claims)]).toEqual([claims, expect.anything()]);
    }
  });
});
