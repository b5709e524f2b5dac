import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createScriptedBrowser, createTrustingFetch } from '../index.ts';
import { type Demo, renderDemoInstructions, startDemo, startDemoGateway } from './startDemo.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const loader = ['--no-warnings', '--import', `${root}tools/ts-loader.mjs`];
const START_MS = 90_000;

let demo: Demo;
beforeAll(async () => {
  demo = await startDemo({ isProduction: false, command: [...loader, `${root}api/src/main.ts`] });
}, START_MS);
afterAll(async () => demo.close());

async function whoami(userId: string, server: string) {
  const token = await readFile(await demo.tokenFile(userId), 'utf8');
  const response = await fetch(`${demo.gateway.url}/api/mcp/servers/${server}/tools/whoami/call`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  });
  const body = (await response.json()) as { content?: { text: string }[]; code?: string };
  return {
    status: response.status,
    headers: response.headers,
    text: body.content?.[0]?.text,
    code: body.code,
  };
}

describe('the demo', () => {
  test('shows each server another token of the same user', async () => {
    expect(await whoami('ada', 'mail')).toMatchObject({
      status: 200,
      text: 'You are Ada Admin (ada). The token is for mail-api: Mail.Read Mail.Send.',
    });
    expect((await whoami('uma', 'notes')).text).toBe(
      'You are Uma User (uma). The token is for notes-api: notes.read.',
    );
    expect(demo.mail.credentials.all().map(({ audience }) => audience)).toEqual(['mail-api']);
    expect(demo.notes.credentials.all().map(({ subject }) => subject)).toEqual(['uma']);
    expect(demo.idp.requestLog.count({ status: 200 })).toBe(2);
  });

  test('signs a person in, who then sees their own tools', async () => {
    const here = createScriptedBrowser();
    const there = createScriptedBrowser({ fetch: createTrustingFetch(demo.ca.caPem) });
    const startResponse = await here.open(`${demo.gateway.url}/oauth/openid`);
    const callback = await there.signIn(startResponse.externalRedirect!, 'gil');
    await here.open(callback);
    const me = await here.open(`${demo.gateway.url}/api/user`);
    expect(JSON.parse(me.text)).toMatchObject({ name: 'Gil Guest' });
    const tools = await here.open(`${demo.gateway.url}/api/mcp/tools`);
    expect(JSON.parse(tools.text)).toMatchObject({
      servers: { mail: { state: 'connected' }, notes: { state: 'connected' } },
    });
    expect(demo.mail.credentials.all().map(({ subject }) => subject)).toContain('gil');
  });

  test('has a model to talk to, which asks every server who somebody is', async () => {
    const token = await readFile(await demo.tokenFile('gil'), 'utf8');
    const response = await fetch(`${demo.gateway.url}/api/chat`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ text: 'Who am I?' }),
    });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    const [, done = ''] = /event: done\ndata: (.*)/.exec(await response.text()) ?? [];
    expect(done).toContain('You are Gil Guest (gil). The token is for mail-api: Mail.Read Mail.Send.');
    expect(done).toContain('You are Gil Guest (gil). The token is for notes-api: notes.read.');
    expect(done).toContain('{"kind":"exchanged","scopes":["notes.read"],"shared":false}');
  });

  test('says what comes back when the provider asks for time', async () => {
    const said = await renderDemoInstructions(demo);
    const [, wish] = /-d '(\{.+\})'/.exec(said)!;
    const send = createTrustingFetch(await readFile(demo.caFile, 'utf8'));
    const set = await send(`${demo.idp.issuer}/dev/switches`, {
      ...{ method: 'POST', body: wish!, headers: { 'content-type': 'application/json' } },
    });
    expect(set.status).toBe(200);
    const refused = await whoami('uma', 'mail');
    expect([refused.status, refused.headers.has('retry-after')]).toEqual([503, true]);
    expect((await whoami('ada', 'mail')).status).toBe(200);
    expect(demo.mail.credentials.all().map(({ subject }) => subject)).not.toContain('uma');
  });

  test('does not run in production', async () => {
    const started = startDemo({ isProduction: true });
    await expect(started).rejects.toThrow('does not run in production');
    // Nothing would start here in any case: what is tested is which of the two is said.
    const busyServer = createServer().listen(0, '127.0.0.1');
    await once(busyServer, 'listening');
    const { port } = busyServer.address() as AddressInfo;
    const child = spawn(process.execPath, [...loader, `${root}packages/devidp/src/demo/main.ts`], {
      env: { NODE_ENV: 'production', DEMO_IDP_PORT: String(port) },
    });
    const exited = once(child, 'exit');
    const [, error] = await Promise.all([text(child.stdout), text(child.stderr)]);
    expect(await exited).toEqual([1, null]);
    busyServer.close();
    expect(error).toContain('does not run in production');
  });

  test('leaves nothing behind', async () => {
    await demo.close();
    await demo.close();
    expect(await demo.gateway.exited).toBe(0);
    expect(existsSync(demo.directory)).toBe(false);
    const trusting = createTrustingFetch(demo.ca.caPem);
    for (const url of [demo.gateway.url, demo.idp.issuer, demo.mail.url, demo.notes.url]) {
      await expect(trusting(url)).rejects.toThrow('fetch failed');
    }
  });

  test('also when the gateway does not start, or nobody waits for it', async () => {
    const broken = startDemo({ isProduction: false, command: ['-e', 'console.log("no"); process.exit(3)'] });
    await expect(broken).rejects.toThrow('The gateway ended:\nno');
    const shutdown = new AbortController();
    const parts = { command: ['-e', 'setInterval(() => undefined, 1000)'], directory: root, env: {} };
    const waiting = startDemoGateway({ ...parts, signal: shutdown.signal });
    shutdown.abort();
    await expect(waiting).rejects.toThrow('start was aborted');
    await expect(startDemoGateway({ ...parts, signal: shutdown.signal })).rejects.toThrow(
      'start was aborted',
    );
  });
});
