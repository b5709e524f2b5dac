import { verifies } from '@behalf/testkit';
import { afterEach, describe, expect } from '@jest/globals';
import { createOpenIdRig, GATEWAY, openIdSettings, type OpenIdRig } from '../../../test/openidRig.ts';
import type { OpenIdSettings } from '../openid/openIdSettings.ts';
import { createFacadeRecords } from './facadeRecords.ts';
import { createIdJags } from './idJag.ts';

const open: OpenIdRig[] = [];

async function createRig(over: Partial<OpenIdSettings> = {}) {
  const rig = await createOpenIdRig(over);
  open.push(rig);
  const { issuer, keys, clock, store, keyring, provisioning, logged } = rig;
  const settings = openIdSettings(issuer.url, over);
  const idJags = createIdJags({
    issuers: new Map([[issuer.url, { keys, settings }]]),
    audience: () => `${GATEWAY}/as`,
    isResource: (url) => url === `${GATEWAY}/mcp`,
    records: createFacadeRecords({ store: store.facade, keyring, clock }),
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
    const taken = { azp: undefined, scope: undefined };
    const value = await rig.token({ ...usual, ...taken, ...claims }, { typ: 'oauth-id-jag+jwt' });
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
  verifies('facade.id-jag.role', 'stays as a sign-in left it where the assertion says none', async () => {
    const { signIn, userBy, events } = await createRig();
    expect(await signIn({ roles: ['ADMIN'] })).toMatchObject({ role: 'ADMIN' });
    expect(await userBy()).toMatchObject({ role: 'ADMIN' });
    expect(events.map(({ action }) => action)).toEqual(['user.create']);
  });

  verifies('facade.id-jag.role', 'is the one that it says, where it says one', async () => {
    const { signIn, userBy } = await createRig();
    await signIn({ roles: ['ADMIN'] });
    expect(await userBy({ roles: [] })).toMatchObject({ role: 'USER' });
    expect(await userBy({ roles: ['ADMIN'] })).toMatchObject({ role: 'ADMIN' });
  });

  verifies('facade.id-jag.role', 'is decided by half of what decides it at no time', async () => {
    const { signIn, userBy, roles } = await createRig({
      adminRole: { values: ['staff'], claim: 'groups', from: 'access' },
    });
    roles.add('EDITOR');
    await signIn({ roles: ['EDITOR'], groups: ['staff'] });
    expect(await userBy({ roles: ['EDITOR'] })).toMatchObject({ role: 'ADMIN' });
    expect(await userBy({ groups: [] })).toMatchObject({ role: 'ADMIN' });
    expect(await userBy({ roles: ['EDITOR'], groups: [] })).toMatchObject({ role: 'EDITOR' });
  });

  verifies('facade.id-jag.role', 'is left to the first sign-in of somebody new', async () => {
    const { signIn, userBy } = await createRig();
    expect(await userBy()).toMatchObject({ role: 'USER', roleConfirmedAt: 0 });
    expect(await signIn({ roles: ['ADMIN'] })).toMatchObject({ role: 'ADMIN' });
  });
});
