import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { freePort } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import { closeIdps, createIdpRig, webClient } from '../test/idpRig.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

const children: ChildProcess[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await closeIdps();
});

function startMain(env: Record<string, string>) {
  const args = ['--no-warnings', '--import', './tools/ts-loader.mjs', 'packages/devidp/src/main.ts'];
  const child = spawn(process.execPath, args, { cwd: root, env: { PATH: process.env.PATH, ...env } });
  children.push(child);
  return child;
}

describe('the development identity provider', () => {
  test('does not run in production', async () => {
    const port = await freePort();
    await expect(createIdpRig({ isProduction: true, port })).rejects.toThrow('does not run in production');
    await expect(fetch(`http://127.0.0.1:${port}/jwks`)).rejects.toThrow('fetch failed');
  });

  test('listens on loopback only', async () => {
    for (const host of ['0.0.0.0', '::', '192.0.2.1', '128.0.0.1', 'localhost', 'idp.example', '']) {
      await expect(createIdpRig({ host })).rejects.toThrow('loopback only');
    }
    const { idp, signIn } = await createIdpRig({ host: '127.0.0.2' });
    expect(new URL(idp.issuer).hostname).toBe('127.0.0.2');
    await signIn('u-ada');
  });

  test('is called by an origin on loopback', async () => {
    for (const issuer of [
      'https://idp.example',
      'http://127.0.0.1:9090/tenant',
      'http://127.0.0.1.example:9090',
      'idp',
    ]) {
      await expect(createIdpRig({ issuer })).rejects.toThrow('not a loopback origin');
    }
    const port = await freePort();
    const { signIn } = await createIdpRig({ port, issuer: `http://localhost:${port}` });
    const { callback } = await signIn('u-ada');
    expect(callback.searchParams.get('iss')).toBe(`http://localhost:${port}`);
  });

  test('does not answer under a name that was pointed at it', async () => {
    const { idp } = await createIdpRig();
    const { port } = new URL(idp.issuer);
    const statusFor = async (host: string) => {
      const pendingRequest = request(`${idp.issuer}/jwks`, { headers: { host } }).end();
      const [response] = (await once(pendingRequest, 'response')) as [IncomingMessage];
      response.resume();
      return response.statusCode;
    };
    expect(await statusFor(`127.0.0.1:${port}`)).toBe(200);
    expect(await statusFor(`localhost:${port}`)).toBe(200);
    expect(await statusFor(`evil.example:${port}`)).toBe(421);
    expect(await statusFor('127.0.0.1')).toBe(421);
  });

  test('closes, however often', async () => {
    const { idp } = await createIdpRig();
    await Promise.all([idp.close(), idp.close()]);
    await expect(fetch(`${idp.issuer}/jwks`)).rejects.toThrow('fetch failed');
  });

  test('leaves nothing listening when it cannot start', async () => {
    const port = await freePort();
    await expect(createIdpRig({ port, clients: [webClient, webClient] })).rejects.toThrow(
      'invalid_client_metadata',
    );
    await expect(fetch(`http://127.0.0.1:${port}/jwks`)).rejects.toThrow('fetch failed');
  });

  test('as a program refuses NODE_ENV=production', async () => {
    const child = startMain({ NODE_ENV: 'production', PORT: '0' });
    const exited = once(child, 'exit');
    const [out, error] = await Promise.all([text(child.stdout), text(child.stderr)]);
    expect([out, await exited]).toEqual(['', [1, null]]);
    expect(error).toContain('does not run in production');
  });

  test('as a program says how to use it, and ends when told', async () => {
    const child = startMain({ PORT: '0' });
    const exited = once(child, 'exit');
    const errors = text(child.stderr);
    let out = '';
    for await (const chunk of child.stdout) {
      out += String(chunk);
      const issuer = /^OPENID_ISSUER=(http:\/\/127\.0\.0\.1:\d+)$/m.exec(out)?.[1];
      if (issuer !== undefined && out.includes('USR2')) {
        expect((await fetch(`${issuer}/jwks`)).status).toBe(200);
        child.kill('SIGTERM');
      }
    }
    expect(await errors).toBe('');
    expect(await exited).toEqual([0, null]);
    expect(out).toContain('OPENID_CLIENT_ID=behalf\n');
    expect(out).toContain('ada@example.test');
  });
});
