import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '@behalf/testkit';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify, type JSONWebKeySet } from 'jose';
import { repositoryRoot } from '../../tools/sources.ts';
import { createBrowser } from './browser.ts';
import {
  giveConsent,
  createAuthorizationClient,
  PUBLIC_URL,
  type AuthorizationClientRig,
  type TokenResponse,
} from './authorizationServerRig.ts';
import { startInProcess, type InProcessGateway } from './inProcess.ts';
import { createKeyClient, sendModern } from './mcpClient.ts';
import { createUsers } from './users.ts';

const CREDS_KEY = 'f'.repeat(64);

describe('the authorization server on two replicas', () => {
  let replicas: [InProcessGateway, InProcessGateway];
  let rigs: [AuthorizationClientRig, AuthorizationClientRig];

  beforeAll(async () => {
    const variables = { PUBLIC_URL, CREDS_KEY };
    const yaml = JSON.stringify({ authorizationServer: { enabled: true } });
    const one = await startInProcess(variables, yaml);
    replicas = [one, await startInProcess({ ...variables, BEHALF_DATA_DIR: one.dataDir }, yaml)];
    // Both are asked for the first time at once: they make one key.
    rigs = await Promise.all([
      createAuthorizationClient(replicas[0].url),
      createAuthorizationClient(replicas[1].url),
    ]);
  }, 60_000);
  afterAll(async () => {
    for (const gateway of [...replicas].reverse()) await gateway.close();
  });

  /** A browser whose every other request lands on the other replica. */
  async function wandering(name: string) {
    const [user] = await createUsers(replicas[0], [name]);
    const browsers = replicas.map(({ url }) => createBrowser(url));
    const [one, other] = browsers as [ReturnType<typeof createBrowser>, ReturnType<typeof createBrowser>];
    const [, value = ''] = (user?.cookie ?? '').split(/=(.*)/s);
    // As it is called where there is https.
    one.cookies.set('__Host-behalf_session', value);
    let turn = 0;
    const next = () => {
      const [from, to] = turn % 2 === 0 ? [other, one] : [one, other];
      turn += 1;
      for (const [key, held] of from.cookies) to.cookies.set(key, held);
      return to;
    };
    return {
      cookies: one.cookies,
      get: (path: string) => next().get(path),
      form: (path: string, fields: Record<string, string>) =>
        next().send(path, {
          method: 'POST',
          body: new URLSearchParams(fields),
          headers: { origin: PUBLIC_URL },
        }),
    };
  }

  test('is one, whichever replica answers', async () => {
    expect(rigs[0].metadata).toEqual(rigs[1].metadata);
    expect(rigs[0].metadata.issuer).toBe(`${PUBLIC_URL}/as`);
    const browser = await wandering('Wanda');
    const clientId = await rigs[0].register();
    const { path, verifier } = rigs[1].createAuthorizationRequest(clientId);
    const back = await giveConsent(browser, path, replicas[0].url);
    const code = back.searchParams.get('code') ?? '';
    const answers = await Promise.all(
      [0, 1, 0, 1].map(async (at) => {
        const answer = await rigs[at]!.redeemCode(clientId, code, verifier);
        return (await answer.json()) as Partial<TokenResponse>;
      }),
    );
    expect(answers.filter((answer) => answer.access_token !== undefined).length).toBeLessThanOrEqual(1);
    const again = await giveConsent(browser, path, replicas[0].url);
    const tokenResponse = await rigs[1].redeemCode(clientId, again.searchParams.get('code') ?? '', verifier);
    const tokens = (await tokenResponse.json()) as TokenResponse;
    expect(tokenResponse.status).toBe(200);
    const published = await fetch(rigs[0].resolveUrl(rigs[0].metadata.jwks_uri));
    const keys = createLocalJWKSet((await published.json()) as JSONWebKeySet);
    await jwtVerify(tokens.access_token, keys, { issuer: `${PUBLIC_URL}/as`, audience: `${PUBLIC_URL}/mcp` });
    // Racing at both: one successor.
    const raced = await Promise.all(
      [0, 1, 0, 1].map(async (at) => {
        const answer = await rigs[at]!.refreshTokens(clientId, tokens.refresh_token);
        return ((await answer.json()) as TokenResponse).refresh_token;
      }),
    );
    expect(new Set(raced).size).toBe(1);
    expect((await rigs[1].refreshTokens(clientId, raced[0] ?? '')).status).toBe(200);
  });

  /** As an operator runs it, beside the gateways. */
  const rotate = async (...args: string[]) => {
    const script = join(repositoryRoot, 'config/scripts/src/rotateSigningKey.ts');
    const loader = join(repositoryRoot, 'tools/ts-loader.mjs');
    const env = { PATH: process.env['PATH'] ?? '', CREDS_KEY, BEHALF_DATA_DIR: replicas[0].dataDir };
    const command = ['--no-warnings', '--import', loader, script, ...args];
    return (await promisify(execFile)(process.execPath, command, { env, cwd: tmpdir() })).stdout;
  };
  const kidOf = ({ access_token: token }: TokenResponse) => decodeProtectedHeader(token).kid;
  const statusAt = async (at: number, { access_token: token }: TokenResponse) =>
    (await sendModern(createKeyClient(token, replicas[at]!.url, '/mcp'), 'tools/list', {})).status;

  async function connected(name: string) {
    const browser = await wandering(name);
    const clientId = await rigs[0].register();
    const { path, verifier } = rigs[1].createAuthorizationRequest(clientId);
    const back = await giveConsent(browser, path, replicas[0].url);
    const tokenResponse = await rigs[1].redeemCode(clientId, back.searchParams.get('code') ?? '', verifier);
    const tokens = (await tokenResponse.json()) as TokenResponse;
    return { clientId, tokens };
  }
  async function refreshed(at: number, clientId: string, { refresh_token: token }: TokenResponse) {
    return (await (await rigs[at]!.refreshTokens(clientId, token)).json()) as TokenResponse;
  }

  test('signs with another key at both, and nobody has to ask anew', async () => {
    const { clientId, tokens } = await connected('Rosa');
    const [, kid = ''] = /signs tokens with the key (\S+)\./.exec(await rotate()) ?? [];
    expect(kid).not.toBe('');
    let last = tokens;
    for (const at of [0, 1]) {
      await eventually(`replica ${at} signs with it`, async () => {
        last = await refreshed(at, clientId, last);
        return kidOf(last) === kid;
      });
    }
    expect(kidOf(tokens)).not.toBe(kid);
    for (const at of [0, 1]) {
      expect([await statusAt(at, tokens), await statusAt(at, last)]).toEqual([200, 200]);
      const published = (await (
        await fetch(rigs[at]!.resolveUrl(rigs[at]!.metadata.jwks_uri))
      ).json()) as JSONWebKeySet;
      expect(published.keys.map((key) => key.kid)).toEqual(expect.arrayContaining([kid, kidOf(tokens)]));
      expect(JSON.stringify(published)).not.toContain('"d"');
    }
  });

  test('ends what the old keys signed at both', async () => {
    const { clientId, tokens } = await connected('Emil');
    expect([await statusAt(0, tokens), await statusAt(1, tokens)]).toEqual([200, 200]);
    expect(await rotate('--now')).toContain('no longer valid');
    for (const at of [0, 1]) {
      await eventually(`replica ${at} refuses it`, async () => (await statusAt(at, tokens)) === 401);
    }
    // The grant goes on: its client asks for another token, and nobody is sent anywhere.
    const next = await refreshed(1, clientId, tokens);
    expect([await statusAt(0, next), await statusAt(1, next)]).toEqual([200, 200]);
  });
});
