import type { CredentialView } from '@behalf/contracts';
import { describe, expect, test } from '@jest/globals';
import { credentialName, describeCredential, describeDisconnect } from './credentialState.ts';
import { emptyTokenDraft, findTokenProblems, toTokenRequest } from './tokenDraft.ts';

const now = Date.now();
const hour = 3_600_000;

function say(view: Partial<CredentialView>) {
  const base = { status: 'active', expiresAt: now + hour, hasRefreshToken: true } as const;
  return describeCredential({ ...base, ...view }, now);
}

describe('a sign-in that is stored', () => {
  test('says whether it works, and until when', () => {
    expect(say({})).toMatchObject({ tone: 'success', needsSignIn: false });
    expect(say({}).text).toMatch(/^Renewed automatically.*\d/);
    expect(say({ expiresAt: now - 1 })).toMatchObject({ tone: 'success', needsSignIn: false });
    expect(say({ hasRefreshToken: false })).toMatchObject({ tone: 'info', needsSignIn: false });
    expect(say({ hasRefreshToken: false }).text).toMatch(/^Expires at .*\d.*Sign in again/);
    expect(say({ expiresAt: null, hasRefreshToken: false }).text).toMatch(/No expiry/);
  });

  test('says that its user has to act, and why', () => {
    const over = say({ expiresAt: now, hasRefreshToken: false });
    expect([over.needsSignIn, over.text]).toEqual([true, expect.stringMatching(/expired/)]);
    for (const status of ['rejected', 'revoked', 'unreadable', 'unbound'] as const) {
      const { needsSignIn, tone, text } = say({ status });
      expect([status, needsSignIn, tone]).toEqual([status, true, 'warning']);
      expect(text.length).toBeGreaterThan(20);
    }
    expect(say({ status: 'rejected', reason: 'lost_rotation' }).text).toMatch(/lost while/);
    expect(say({ reason: 'insufficient_scope' })).toMatchObject({ needsSignIn: true });
  });

  test('has a name, also where it was given none', () => {
    expect([credentialName('default'), credentialName('Work')]).toEqual(['Your sign-in', 'Work']);
  });

  test('what may live on elsewhere is not called ended', () => {
    const tell = (revoked: 'yes' | 'failed' | 'unsupported' | 'none') =>
      describeDisconnect({ disconnected: true, revoked });
    expect([tell('yes').tone, tell('none').tone]).toEqual(['success', 'success']);
    expect([tell('failed').tone, tell('unsupported').tone]).toEqual(['warning', 'warning']);
    expect(tell('failed').text).toMatch(/may stay valid/);
    expect(tell('unsupported').text).toMatch(/may stay valid/);
    expect(tell('yes').text).toMatch(/revoked/);
    expect(describeDisconnect({ disconnected: false, revoked: 'none' }).title).toMatch(
      /Already disconnected/,
    );
  });
});

describe('a token that somebody brings', () => {
  test('is sent as it was entered, without blanks around it', () => {
    expect(toTokenRequest({ ...emptyTokenDraft, accessToken: '  at \n' })).toEqual({ accessToken: 'at' });
    const whole = {
      ...{ accessToken: 'at', label: 'Work', refreshToken: 'rt', issuer: 'https://as.example' },
      ...{ clientId: 'c', expiresIn: '60' },
    };
    expect(toTokenRequest(whole)).toEqual({ ...whole, expiresIn: 60 });
    expect(findTokenProblems(whole)).toEqual({});
  });

  test('is complete before it is sent', () => {
    expect(Object.keys(findTokenProblems(emptyTokenDraft))).toEqual(['accessToken']);
    const renewing = { ...emptyTokenDraft, accessToken: 'at', refreshToken: 'rt' };
    expect(Object.keys(findTokenProblems(renewing))).toEqual(['issuer', 'clientId']);
    for (const expiresIn of ['0', '-1', '1.5', 'soon', '1e3']) {
      const found = findTokenProblems({ ...emptyTokenDraft, accessToken: 'at', expiresIn });
      expect([expiresIn, Object.keys(found)]).toEqual([expiresIn, ['expiresIn']]);
    }
  });
});
