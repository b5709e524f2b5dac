import { aPrincipal, createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { defineServer } from '../../test/toolcallRig.ts';
import type { CredentialSummary } from '../credentials/vault/vault.ts';
import { getCredentialReadiness } from './readiness.ts';

const ada = aPrincipal({ userId: 'ada' });

function summary(label: string, overrides: Partial<CredentialSummary> = {}): CredentialSummary {
  return {
    ...{ id: label, tenant: 'default', principal: 'user:ada', serverId: 'notes', kind: 'oauth_code', label },
    ...{ isDefault: label === 'default', status: 'active', reason: null, statusAt: 0, generation: 1 },
    ...{ issuer: 'https://as.example', scopes: '', expiresAt: null, hasRefreshToken: true },
    ...{ fingerprint: null, createdAt: 0, updatedAt: 0 },
    ...overrides,
  };
}

/** How it stands with these credentials at a server where users sign in. */
async function readStatus(
  own: CredentialSummary[],
  { label, settings = {}, subject }: { label?: string; settings?: object; subject?: 'absent' } = {},
) {
  const server = defineServer('notes', { requiresOAuth: true, ...settings });
  const clock = createFakeClock();
  const parts = {
    ...{ vault: { list: async () => own }, variables: { readSetFlags: async () => ({}) }, clock },
    subjects: { checkSubject: async () => subject },
  };
  const { missing, selected, mayGoWithout } = await getCredentialReadiness(parts, server, ada, label);
  const [need] = missing;
  return [need?.kind === 'sign_in' ? need.reason : need?.kind, selected, mayGoWithout];
}

describe('how it stands with a credential', () => {
  const past = { expiresAt: 0 };

  test('is told from what is stored, without opening anything', async () => {
    expect(await readStatus([])).toEqual(['absent', null, false]);
    expect(await readStatus([summary('default')])).toEqual([undefined, 'default', false]);
    expect(await readStatus([summary('default', past)])).toEqual([undefined, 'default', false]);
    const over = summary('default', { ...past, hasRefreshToken: false });
    expect(await readStatus([over])).toEqual(['expired_no_refresh', 'default', false]);
    const rejected = { status: 'rejected', reason: 'lost_rotation' } as const;
    expect(await readStatus([summary('default', rejected)])).toEqual([undefined, 'default', false]);
    expect(await readStatus([summary('default', { ...rejected, ...past })])).toEqual([
      ...['lost_rotation', 'default', false],
    ]);
    for (const status of ['unbound', 'unreadable'] as const) {
      expect(await readStatus([summary('default', { status })])).toEqual([status, 'default', false]);
    }
  });

  test('the default or only one is taken, and one that is named or none', async () => {
    const [a, b] = [summary('a'), summary('b')];
    expect(await readStatus([a])).toEqual([undefined, 'a', false]);
    expect(await readStatus([a, summary('default'), b])).toEqual([undefined, 'default', false]);
    expect(await readStatus([a, b])).toEqual(['choose', null, false]);
    expect(await readStatus([a, b], { label: 'b' })).toEqual([undefined, 'b', false]);
    expect(await readStatus([a, b], { label: 'c' })).toEqual(['absent', null, false]);
    const ended = summary('default', { status: 'revoked' });
    expect(await readStatus([ended])).toEqual(['revoked', null, false]);
    expect(await readStatus([ended, a])).toEqual([undefined, 'a', false]);
    expect(await readStatus([ended, a], { label: 'default' })).toEqual(['absent', null, false]);
  });

  test('a token that was brought and is over gives way to a sign-in that works', async () => {
    const brought = summary('default', { kind: 'static', hasRefreshToken: false, ...past });
    const signIn = summary('work');
    expect(await readStatus([brought, signIn])).toEqual([undefined, 'work', false]);
    expect(await readStatus([brought])).toEqual(['expired_no_refresh', 'default', false]);
    expect(await readStatus([brought, summary('work', { ...past, hasRefreshToken: false })])).toEqual([
      ...['expired_no_refresh', 'default', false],
    ]);
    const working = summary('default', { kind: 'static', hasRefreshToken: false });
    expect(await readStatus([working, signIn])).toEqual([undefined, 'default', false]);
    // Who names it gets it, or is told.
    expect(await readStatus([brought, signIn], { label: 'default' })).toEqual([
      ...['expired_no_refresh', 'default', false],
    ]);
  });

  test('a sign-in here that would be exchanged is missed before anything runs', async () => {
    const settings = { requiresOAuth: undefined, obo: { scopes: 'api://x/.default' } };
    expect(await readStatus([], { settings, subject: 'absent' })).toEqual(['absent', null, false]);
    expect((await readStatus([], { settings }))[0]).toBeUndefined();
    expect(await readStatus([summary('default')], { subject: 'absent' })).toEqual([
      undefined,
      'default',
      false,
    ]);
  });

  test('where it is optional, only who never had one goes without', async () => {
    const settings = { requiresOAuth: undefined, auth: 'optional' };
    expect(await readStatus([], { settings })).toEqual([undefined, null, true]);
    expect(await readStatus([], { settings, label: 'a' })).toEqual(['absent', null, true]);
    const ended = summary('default', { status: 'revoked' });
    expect(await readStatus([ended], { settings })).toEqual(['revoked', null, false]);
  });
});
