import { verifies } from '@behalf/testkit';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from 'jose';
import { createBrowser } from './browser.ts';
import { agree, facadeOf, PUBLIC_URL, type FacadeClientRig, type Tokens } from './facadeScene.ts';
import { startInProcess, type InProcessGateway } from './inProcess.ts';
import { createPeople } from './people.ts';

describe('the authorization server on two replicas', () => {
  let replicas: [InProcessGateway, InProcessGateway];
  let rigs: [FacadeClientRig, FacadeClientRig];

  beforeAll(async () => {
    const variables = { PUBLIC_URL, CREDS_KEY: 'f'.repeat(64) };
    const yaml = JSON.stringify({ authorizationServer: { enabled: true } });
    const one = await startInProcess(variables, yaml);
    replicas = [one, await startInProcess({ ...variables, BEHALF_DATA_DIR: one.dataDir }, yaml)];
    // Both are asked for the first time at once: they make one key.
    rigs = await Promise.all([facadeOf(replicas[0].url), facadeOf(replicas[1].url)]);
  }, 60_000);
  afterAll(async () => {
    for (const gateway of [...replicas].reverse()) await gateway.close();
  });

  /** A browser whose every other request lands on the other replica. */
  async function wandering() {
    const [person] = await createPeople(replicas[0], ['Wanda']);
    const browsers = replicas.map(({ url }) => createBrowser(url));
    const [one, other] = browsers as [ReturnType<typeof createBrowser>, ReturnType<typeof createBrowser>];
    const [, value = ''] = (person?.cookie ?? '').split(/=(.*)/s);
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

  verifies('facade.replicas', 'is one, whichever replica answers', async () => {
    expect(rigs[0].metadata).toEqual(rigs[1].metadata);
    expect(rigs[0].metadata.issuer).toBe(`${PUBLIC_URL}/as`);
    const browser = await wandering();
    const clientId = await rigs[0].register();
    const { path, verifier } = rigs[1].request(clientId);
    const back = await agree(browser, path, replicas[0].url);
    const code = back.searchParams.get('code') ?? '';
    const answers = await Promise.all(
      [0, 1, 0, 1].map(async (at) => {
        const answer = await rigs[at]!.redeem(clientId, code, verifier);
        return (await answer.json()) as Partial<Tokens>;
      }),
    );
    expect(answers.filter((answer) => answer.access_token !== undefined).length).toBeLessThanOrEqual(1);
    const again = await agree(browser, path, replicas[0].url);
    const given = await rigs[1].redeem(clientId, again.searchParams.get('code') ?? '', verifier);
    const tokens = (await given.json()) as Tokens;
    expect(given.status).toBe(200);
    const published = await fetch(rigs[0].at(rigs[0].metadata.jwks_uri));
    const keys = createLocalJWKSet((await published.json()) as JSONWebKeySet);
    await jwtVerify(tokens.access_token, keys, { issuer: `${PUBLIC_URL}/as`, audience: `${PUBLIC_URL}/mcp` });
    // Racing at both: one successor.
    const raced = await Promise.all(
      [0, 1, 0, 1].map(async (at) => {
        const answer = await rigs[at]!.refresh(clientId, tokens.refresh_token);
        return ((await answer.json()) as Tokens).refresh_token;
      }),
    );
    expect(new Set(raced).size).toBe(1);
    expect((await rigs[1].refresh(clientId, raced[0] ?? '')).status).toBe(200);
  });
});
