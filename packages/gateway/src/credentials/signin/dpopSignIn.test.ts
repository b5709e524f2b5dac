import { aPrincipal } from '@behalf/testkit';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type DpopServer, startDpopServer } from '../../../test/dpopServer.ts';
import { closeSignInRigs, createSignInRig, followRedirect } from '../../../test/signInRig.ts';
import type { CredentialKey } from '../../ports/index.ts';
import { credentialHolder } from '../../principal/credentialHolder.ts';
import { toWireToken } from '../oauth/dpop.ts';
import { tokenOrThrow } from '../oauthTokens.ts';

let dpopServer: DpopServer;
beforeEach(async () => void (dpopServer = await startDpopServer()));
afterEach(async () => {
  await closeSignInRigs();
  await dpopServer.close();
});

const HOUR_MS = 60 * 60_000;
const bob = aPrincipal({ userId: 'bob', email: 'bob@example.test' });

function rigWith(oauth: object = {}) {
  const files = {
    type: 'streamable-http',
    url: `${dpopServer.origin}/mcp`,
    oauth: { client_id: 'us', ...oauth },
  };
  const rig = createSignInRig({ servers: { files }, ports: [dpopServer.port] });
  async function signIn(principal = aPrincipal()) {
    const { opened } = await rig.startSignIn('files', { principal });
    if (opened.kind !== 'leave') throw new Error('The browser stays');
    return rig.finishSignIn(await followRedirect(opened.url), principal);
  }
  const tokenOf = async (overrides: Partial<CredentialKey> = {}) =>
    tokenOrThrow(await rig.vault.token(rig.keyOf('files', overrides)));
  return { ...rig, signIn, tokenOf };
}

describe('a sign-in at a server that wants tokens bound to a key', () => {
  test('names the key at the start, proves it, and gives a token that is no bearer token', async () => {
    const rig = rigWith();
    expect(await rig.signIn()).toMatchObject({ ok: true });
    const held = await rig.tokenOf();
    const jkt = dpopServer.thumbprintOf(held.accessToken);
    expect(held.prover?.thumbprint).toBe(jkt);
    expect(dpopServer.announcedThumbprints).toEqual([jkt]);
    expect(dpopServer.proofs).toMatchObject([{ path: '/token', jkt, status: 200, ath: undefined }]);
    const presented = toWireToken(held);
    expect(typeof presented).toBe('object');
    // Whoever treats it as text sends nothing of it.
    expect(String(presented as unknown)).not.toContain(held.accessToken);
  });

  test('has a key of its own, sealed, and no two users share one', async () => {
    const rig = rigWith();
    await rig.signIn();
    await rig.signIn(bob);
    const [one, two] = [await rig.tokenOf(), await rig.tokenOf({ principal: credentialHolder(bob) })];
    expect(one.prover?.thumbprint).not.toBe(two.prover?.thumbprint);
    expect(new Set(dpopServer.announcedThumbprints).size).toBe(2);
    const stored = JSON.stringify([
      await rig.store.credentials.find(rig.keyOf('files')),
      await rig.store.oauthFlows.findPending(
        'default',
        aPrincipal().userId,
        rig.allowedServer('files').id,
        0,
      ),
    ]);
    expect(stored).toContain('sealed');
    expect(stored).not.toMatch(/"d"|P-256|kty/);
    expect(JSON.stringify([rig.logged, rig.events])).not.toMatch(/P-256|"d":/);
    // A new sign-in is a new key.
    await rig.signIn();
    expect((await rig.tokenOf()).prover?.thumbprint).not.toBe(one.prover?.thumbprint);
  });

  test('is renewed with the same key', async () => {
    const rig = rigWith();
    await rig.signIn();
    const before = await rig.tokenOf();
    rig.clock.advance(2 * HOUR_MS);
    const after = await rig.tokenOf();
    expect(after.accessToken).not.toBe(before.accessToken);
    expect(dpopServer.thumbprintOf(after.accessToken)).toBe(dpopServer.thumbprintOf(before.accessToken));
    expect(after.prover?.thumbprint).toBe(before.prover?.thumbprint);
    expect(dpopServer.tokenRequests.map(({ grant, status }) => [grant, status])).toEqual([
      ['authorization_code', 200],
      ['refresh_token', 200],
    ]);
    expect(new Set(dpopServer.proofs.map(({ jti }) => jti)).size).toBe(dpopServer.proofs.length);
  });

  test('repeats what the authorization server wants repeated, once', async () => {
    dpopServer.nonce = 'first';
    const rig = rigWith();
    expect(await rig.signIn()).toMatchObject({ ok: true });
    expect(dpopServer.tokenRequests.map(({ status }) => status)).toEqual([400, 200]);
    // Nothing was consumed by the refusal: a refresh token rotates once.
    dpopServer.nonce = 'second';
    rig.clock.advance(2 * HOUR_MS);
    await rig.tokenOf();
    expect(dpopServer.tokenRequests.slice(2).map(({ status }) => status)).toEqual([400, 200]);
    expect(dpopServer.proofs.map(({ nonce }) => nonce)).toEqual([undefined, 'first', undefined, 'second']);
  });

  test('asks no third time', async () => {
    dpopServer.nonce = 'never this one';
    dpopServer.rotatesNonce = true;
    const rig = rigWith();
    expect(await rig.signIn()).toMatchObject({ ok: false, error: 'token_exchange_failed' });
    expect(dpopServer.tokenRequests).toHaveLength(2);
  });
});

describe('who asks for it', () => {
  test('the server, where its authorization server can', async () => {
    // It can, and nobody asks.
    dpopServer.resource = { ...dpopServer.resource, dpop_bound_access_tokens_required: false };
    expect(await rigWith().signIn()).toMatchObject({ ok: false });
    expect(dpopServer.announcedThumbprints).toEqual([null]);
    expect(dpopServer.tokenRequests).toEqual([{ grant: 'authorization_code', hasProof: false, status: 400 }]);
  });

  test('nobody, where the operator says so: a typed failure and no loop', async () => {
    const rig = rigWith({ dpop: 'off' });
    expect(await rig.signIn()).toMatchObject({ ok: false, error: 'token_exchange_failed' });
    expect(dpopServer.tokenRequests).toEqual([{ grant: 'authorization_code', hasProof: false, status: 400 }]);
  });

  test('the operator, whatever the server says', async () => {
    dpopServer.resource = { ...dpopServer.resource, dpop_bound_access_tokens_required: undefined };
    const rig = rigWith({ dpop: 'require' });
    expect(await rig.signIn()).toMatchObject({ ok: true });
    expect((await rig.tokenOf()).prover).toBeDefined();
  });

  test('a token that is bound to nothing is refused then', async () => {
    dpopServer.tokenType = 'Bearer';
    expect(await rigWith({ dpop: 'require' }).signIn()).toMatchObject({ error: 'token_exchange_failed' });
    // Else it is what the authorization server says it is.
    const rig = rigWith();
    expect(await rig.signIn()).toMatchObject({ ok: true });
    const held = await rig.tokenOf();
    expect([held.prover, toWireToken(held)]).toEqual([undefined, held.accessToken]);
  });

  test('and so is an authorization server that cannot', async () => {
    dpopServer.metadata = { ...dpopServer.metadata, dpop_signing_alg_values_supported: ['RS256'] };
    const rig = rigWith({ dpop: 'require' });
    await expect(rig.signIn()).rejects.toMatchObject({ problem: 'dpop_unsupported' });
    expect(dpopServer.tokenRequests).toEqual([]);
  });
});

describe('a token of our own for a server that everybody shares', () => {
  test('is bound to a key of ours, which stays', async () => {
    const rig = rigWith({ grant: 'client_credentials', client_secret: 's', issuer: dpopServer.origin });
    const of = {
      kind: 'client_credentials',
      principal: '@app',
      tenant: rig.allowedServer('files').tenant,
    } as const;
    const before = await rig.tokenOf(of);
    expect(dpopServer.thumbprintOf(before.accessToken)).toBe(before.prover?.thumbprint);
    rig.clock.advance(2 * HOUR_MS);
    const after = await rig.tokenOf(of);
    expect(after.accessToken).not.toBe(before.accessToken);
    expect(after.prover?.thumbprint).toBe(before.prover?.thumbprint);
  });
});
