import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { createGrantRigs } from './grantRig.ts';
import { callWithToken, subjectSeenByServer } from './oboCaller.ts';
import { startOboRig } from './oboRig.ts';
import type { TestUser } from './users.ts';

/*
 * The `aud` of the gateway's client assertions (ADR 34). The authorization servers in these tests verify the assertion and accept exactly
 * one audience, so a wrong audience fails the exchange.
 */

const createRig = createGrantRigs();

async function createKey() {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const keyFile = join(await mkdtemp(join(tmpdir(), 'behalf-key-')), 'key.pem');
  await writeFile(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  return { keyFile, keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k1', alg: 'ES256' }] };
}

describe('the audience of a client assertion at an authorization server', () => {
  async function signIn(accepted: 'issuer' | 'token_endpoint', issuer: object = {}) {
    const { keyFile, keys } = await createKey();
    const rig = await createRig({
      as: {
        assertionAudience: accepted,
        clients: [{ clientId: 'app', authMethod: 'private_key_jwt', keys }],
      },
      server: { oauth: { client_id: 'app', private_key_file: keyFile, private_key_id: 'k1' } },
      issuer,
    });
    const [ada] = rig.users as [TestUser];
    const page = await rig.connectUser(ada);
    return { ...rig, ada, page };
  }

  for (const [accepted, issuer] of [
    ['issuer', {}],
    ['token_endpoint', { clientAssertionAudience: 'token_endpoint' }],
  ] as const) {
    test(`is ${accepted} with ${JSON.stringify(issuer)}, for sign-in, refresh and revocation`, async () => {
      const { as, ada, page, clock } = await signIn(accepted, issuer);
      expect(page.pathname).toBe('/oauth/success');
      clock.advance(2 * 60 * 60 * 1_000);
      expect((await ada.call('notes', 'echo')).body).toMatchObject({ isError: false });
      const grants = as.received('token').map(({ form, outcome }) => [form['grant_type'], outcome]);
      expect(grants).toEqual([
        ['authorization_code', 'tokens'],
        ['refresh_token', 'tokens'],
      ]);
      const ended = await ada.post('/api/mcp/notes/oauth/disconnect', {});
      expect(await ended.json()).toEqual({ disconnected: true, revoked: 'yes' });
    });
  }

  test('is one value only: a server that accepts the other one refuses sign-in and refresh', async () => {
    const other = await signIn('token_endpoint');
    expect(other.page.pathname).toBe('/oauth/error');
    const { as, ada, clock } = await signIn('issuer');
    as.change({ assertionAudience: 'token_endpoint' });
    clock.advance(2 * 60 * 60 * 1_000);
    expect((await ada.call('notes', 'echo')).status).not.toBe(200);
    expect(as.received('token').at(-1)).toMatchObject({ outcome: 'invalid_client' });
  });
});

describe('the audience of a client assertion at an identity provider', () => {
  for (const [accepted, setting, works] of [
    ['issuer', undefined, true],
    ['token_endpoint', undefined, false],
    ['token_endpoint', 'token_endpoint', true],
    ['issuer', 'token_endpoint', false],
  ] as const) {
    test(`an OBO exchange with ${setting ?? 'the default'} ${works ? 'succeeds' : 'fails'} if only ${accepted} is accepted`, async () => {
      const clientKey = { accepted, ...(setting !== undefined && { setting }) };
      const rig = await startOboRig({ provider: 'token-exchange', clientKey });
      try {
        const response = await callWithToken(rig, rig.mintToken('uma'));
        expect(subjectSeenByServer(response)).toBe(works ? 'uma' : undefined);
        if (works) return;
        const failure = rig.logged.find(({ event }) => event === 'obo_exchange_failed');
        expect(failure?.fields).toMatchObject({ code: 'OBO_MISCONFIGURED', providerCode: 'invalid_client' });
      } finally {
        await rig.close();
      }
    }, 60_000);
  }
});
