import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { Problem } from '@behalf/contracts';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readWeb } from '../../api/src/http/staticFiles.ts';
import { ensureWebBuilt } from '../../tools/build.mjs';
import { adaAccount, createBrowser, createAdministrator, setupTokenOf } from './browser.ts';
import { startInProcess, type InProcessGateway } from './inProcess.ts';

const page =
  '<!doctype html><title>Behalf</title><script type="module" src="/assets/index-Ab12.js"></script>';
const script = `console.log(${JSON.stringify('x'.repeat(5_000))});`;
const sheet = 'body{margin:0}';

/** What the addresses of the interface look like. */
const inside = [
  '/chat',
  '/chat/c-1',
  '/tools',
  '/tools/files',
  '/tools/files/read_one',
  '/servers',
  '/servers/my%20files',
  '/settings',
  '/admin',
  '/admin/audit?kind=call',
];

async function writeWeb(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'behalf-web-'));
  await mkdir(join(dir, 'assets'));
  const files = {
    'index.html': page,
    'assets/index-Ab12.js': script,
    'assets/index-Ab12.js.br': brotliCompressSync(script),
    'assets/index-Ab12.js.gz': gzipSync(script),
    'assets/index-Cd34.css': sheet,
    'assets/index-Ab12.js.map': '{"planted":true}',
    'assets/notes.txt': 'planted',
    'secret.js': 'planted',
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text);
  return dir;
}

interface Raw {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Without what a client does by itself: the path as it stands, and the bytes as they came. */
function raw(url: string, path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Raw> {
  const { hostname: host, port } = new URL(url);
  return new Promise((resolve, reject) => {
    request({ host, port, path, method, headers })
      .on('response', (response) => {
        const pieces: Buffer[] = [];
        response
          .on('data', (piece: Buffer) => pieces.push(piece))
          .on('end', () => {
            const { statusCode: status = 0, headers: got } = response;
            resolve({ status, headers: got, body: Buffer.concat(pieces) });
          });
      })
      .on('error', reject)
      .end();
  });
}

describe('the interface', () => {
  let dir: string;
  let gateway: InProcessGateway;
  let browser: Awaited<ReturnType<typeof createAdministrator>>;
  beforeAll(async () => {
    dir = await writeWeb();
    gateway = await startInProcess({}, undefined, undefined, readWeb(dir));
    browser = await createAdministrator(gateway);
  });
  afterAll(async () => {
    await gateway.close();
    await rm(dir, { recursive: true, force: true });
  });
  const otherBrowser = () => createBrowser(gateway.url);

  test('is given to who is signed in, at each of its addresses', async () => {
    for (const path of ['/', ...inside]) {
      const answer = await browser.get(path);
      expect([path, answer.status, await answer.text()]).toEqual([path, 200, page]);
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    }
    const head = await browser.send('/chat', { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([
      200,
      String(Buffer.byteLength(page)),
      '',
    ]);
  });

  test('leads everybody else to the sign-in, and tells nothing', async () => {
    const liar = otherBrowser();
    liar.cookies.set('behalf_session', 'x'.repeat(43));
    for (const anybody of [otherBrowser(), liar]) {
      for (const path of inside) {
        const answer = await anybody.get(path);
        expect([path, answer.status, answer.headers.get('location')]).toEqual([
          path,
          302,
          `/?returnTo=${encodeURIComponent(path)}`,
        ]);
        expect(answer.headers.get('cache-control')).toBe('no-store');
        expect(await answer.text()).not.toContain('assets');
      }
      const home = await anybody.get('/');
      expect([home.status, (await home.text()).includes('action="/api/auth/login"')]).toEqual([200, true]);
    }
  });

  test('ends with the session', async () => {
    const other = otherBrowser();
    await other.post('/api/auth/login', { email: adaAccount.email, password: adaAccount.password });
    const stolen = otherBrowser();
    for (const [name, value] of other.cookies) stolen.cookies.set(name, value);
    expect((await stolen.get('/chat')).status).toBe(200);
    await other.post('/api/auth/logout');
    expect((await stolen.get('/chat')).status).toBe(302);
  });

  test('is at no other address, and takes no other method', async () => {
    for (const [path, method, status] of [
      ['/chat/a/b', 'GET', 404],
      ['/Chat', 'GET', 404],
      ['/tools/a/b/c', 'GET', 404],
      ['/index.html', 'GET', 404],
      ['/servers/%zz', 'GET', 404],
      ['/chat', 'POST', 405],
    ] as const) {
      const answer = await browser.send(path, { method, headers: { origin: gateway.url } });
      expect([path, answer.status, answer.headers.get('content-type')]).toEqual([
        ...[path, status],
        'application/problem+json; charset=utf-8',
      ]);
      expect(Problem.parse(await answer.json()).status).toBe(status);
    }
  });

  test('may run our own scripts, and nothing that somebody else wrote', async () => {
    for (const path of ['/', '/chat/c-1']) {
      const { headers } = await browser.get(path);
      expect(headers.get('content-security-policy')).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src data: blob:; " +
          "connect-src 'self'; font-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; " +
          "object-src 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
      );
      expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
      expect(headers.get('referrer-policy')).toBe('same-origin');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('permissions-policy')).toMatch(/(^|, )camera=\(\), .*microphone=\(\)/);
      expect(headers.get('permissions-policy')).not.toContain('clipboard-write');
    }
  });

  test('and no other answer of ours runs any', async () => {
    const plain = (await otherBrowser().get('/')).headers.get('content-security-policy');
    expect(plain).not.toContain('script-src');
    for (const path of ['/setup', '/api/user', '/assets/index-Ab12.js', '/assets/none.js', '/style.css']) {
      expect((await browser.get(path)).headers.get('content-security-policy')).toBe(plain);
    }
  });

  test('is reached again by who signs in on the way to it', async () => {
    for (const path of ['/admin/audit?kind=call&user=a%20b', '/servers/%C3%A9']) {
      const there = otherBrowser();
      const response = await there.get(path);
      const signIn = await (await there.get(response.headers.get('location') ?? '')).text();
      const [, returnToField = ''] =
        /<input type="hidden" name="returnTo" value="([^"]*)"/.exec(signIn) ?? [];
      const returnTo = returnToField.replace(/&#(\d+);/g, (_all, code: string) =>
        String.fromCharCode(Number(code)),
      );
      expect(returnTo).toBe(path);
      const wrong = await there.form('/api/auth/login', {
        email: adaAccount.email,
        password: 'wrong',
        returnTo,
      });
      expect([wrong.status, (await wrong.text()).includes(`value="${returnToField}"`)]).toEqual([401, true]);
      const right = await there.form('/api/auth/login', {
        email: adaAccount.email,
        password: adaAccount.password,
        returnTo,
      });
      expect([right.status, right.headers.get('location')]).toEqual([303, path]);
      expect(await (await there.get(path)).text()).toBe(page);
    }
  });

  test('is the only place that a sign-in leads to', async () => {
    const plain = await (await otherBrowser().get('/')).text();
    const hostile = [
      'https://evil.example/',
      '//evil.example',
      '/\\evil.example',
      '/\t/evil.example',
      'https:evil.example',
      '\\\\evil.example',
      '/\n/evil.example',
      'javascript:alert(1)',
      'data:text/html,x',
      'evil.example',
      ' /chat',
      `/${'x'.repeat(2_000)}`,
      '',
    ];
    for (const returnTo of hostile) {
      const query = new URLSearchParams({ returnTo }).toString();
      expect([returnTo, await (await otherBrowser().get(`/?${query}`)).text()]).toEqual([returnTo, plain]);
    }
    // A form need not be the one that we gave out. A password takes its time, so not all of them.
    for (const returnTo of hostile.slice(0, 4)) {
      const form = { email: adaAccount.email, password: adaAccount.password, returnTo };
      const answer = await otherBrowser().form('/api/auth/login', form);
      expect([returnTo, answer.status, answer.headers.get('location')]).toEqual([returnTo, 303, '/']);
    }
    expect(await (await otherBrowser().get('/?returnTo=/chat&returnTo=//evil.example')).text()).toBe(plain);
    const markup = await (
      await otherBrowser().get(`/?returnTo=${encodeURIComponent('/"><script>x')}`)
    ).text();
    expect(markup).toContain('value="/&#34;&#62;&#60;script&#62;x"');
    // As a proxy would ask.
    const absolute = await raw(gateway.url, 'http://evil.example/chat', { host: new URL(gateway.url).host });
    expect([absolute.status, absolute.headers['location']]).toEqual([302, '/?returnTo=%2F']);
  });

  test('is none of a program’s business', async () => {
    const answer = await otherBrowser().post('/api/auth/login', {
      ...{ email: adaAccount.email, password: adaAccount.password, returnTo: '/chat' },
    });
    expect(Problem.parse(await answer.json())).toMatchObject({ status: 400, code: 'REQUEST_INVALID' });
  });

  test('is loaded with types and tags, once and for ever', async () => {
    for (const [name, type, text] of [
      ['index-Ab12.js', 'text/javascript; charset=utf-8', script],
      ['index-Cd34.css', 'text/css; charset=utf-8', sheet],
    ]) {
      const path = `/assets/${name}`;
      const answer = await otherBrowser().get(path);
      expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([
        200,
        type,
        text,
      ]);
      expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      expect(answer.headers.get('vary')).toBe('Accept-Encoding');
      expect(answer.headers.get('etag')).toMatch(/^"[\w-]{22}(-\w+)?"$/);
      // By hand: `fetch` adds a header that asks for the whole.
      const ask = (known: string) =>
        raw(gateway.url, path, { 'if-none-match': known, 'accept-encoding': 'gzip' });
      const tag = String((await ask('"other"')).headers['etag']);
      const again = await ask(`"other", ${tag}`);
      expect([again.status, again.body.length, again.headers['etag']]).toEqual([304, 0, tag]);
      expect((await ask('"other"')).status).toBe(200);
    }
  });

  test('comes in the form that is smallest among those that are taken', async () => {
    const forms = { br: brotliCompressSync(script), gzip: gzipSync(script), '': Buffer.from(script) };
    const tags = new Set<unknown>();
    for (const [accepts, form] of [
      ['gzip, deflate, br, zstd', 'br'],
      ['gzip, br;q=0.1', 'br'],
      ['gzip', 'gzip'],
      ['br;q=0, gzip', 'gzip'],
      ['deflate', ''],
      ['identity', ''],
      ['br;q=0, gzip;q=0', ''],
      [undefined, ''],
    ] as const) {
      const headers = accepts === undefined ? {} : { 'accept-encoding': accepts };
      const answer = await raw(gateway.url, '/assets/index-Ab12.js', headers);
      expect([accepts, answer.headers['content-encoding'] ?? '']).toEqual([accepts, form]);
      expect(answer.body).toEqual(forms[form]);
      expect(answer.headers['content-length']).toBe(String(forms[form].length));
      tags.add(answer.headers['etag']);
      const head = await raw(gateway.url, '/assets/index-Ab12.js', headers, 'HEAD');
      expect([head.status, head.body.length]).toEqual([200, 0]);
      expect(head.headers).toMatchObject({
        'content-length': answer.headers['content-length'],
        etag: answer.headers['etag'],
      });
    }
    expect(tags.size).toBe(3);
    // Nobody made another form of it.
    const small = await raw(gateway.url, '/assets/index-Cd34.css', { 'accept-encoding': 'br, gzip' });
    expect([small.headers['content-encoding'], String(small.body)]).toEqual([undefined, sheet]);
  });

  test('is all there is to be had', async () => {
    for (const path of [
      '/assets/none.js',
      '/assets/index-Ab12.js.map',
      '/assets/index-Ab12.js.br',
      '/assets/notes.txt',
      '/assets/',
      '/assets/..%2findex.html',
      '/assets/..%2Fsecret.js',
      '/assets/../secret.js',
      '/assets/%2e%2e/secret.js',
      '/assets/..%5csecret.js',
      '/assets/%2fetc%2fpasswd',
      '/assets/....//secret.js',
      '/assets/index-Ab12.js%00.css',
      '/assets/constructor',
      '/assets/__proto__',
      '/secret.js',
      '/favicon.ico',
    ]) {
      const answer = await raw(gateway.url, path);
      expect([path, answer.status, answer.headers['cache-control']]).toEqual([path, 404, 'no-store']);
      const problem = Problem.parse(JSON.parse(String(answer.body)));
      expect([path, problem.code]).toEqual([path, 'NOT_FOUND']);
      expect(String(answer.body)).not.toContain('planted');
    }
  });

  test('is where the first administrator arrives', async () => {
    const fresh = await startInProcess({}, undefined, undefined, readWeb(dir));
    try {
      const first = createBrowser(fresh.url);
      const made = await first.form('/api/auth/setup', {
        token: setupTokenOf(fresh.setupLink),
        ...adaAccount,
      });
      expect([made.status, made.headers.get('location')]).toEqual([303, '/']);
      expect(await (await first.get('/')).text()).toBe(page);
    } finally {
      await fresh.close();
    }
  });
});

describe('a gateway without the interface', () => {
  test('says so with what to do, and works', async () => {
    const gateway = await startInProcess({}, undefined, undefined, readWeb(join(tmpdir(), 'behalf-none')));
    try {
      const browser = await createAdministrator(gateway);
      for (const path of ['/', '/servers/files']) {
        const answer = await browser.get(path);
        const text = await answer.text();
        expect([answer.status, text.includes('npm run build'), text.includes('Ada')]).toEqual([
          503,
          true,
          true,
        ]);
        expect(answer.headers.get('content-security-policy')).not.toContain('script-src');
      }
      expect((await browser.get('/assets/index-Ab12.js')).status).toBe(404);
      expect((await browser.get('/api/user')).status).toBe(200);
      expect((await fetch(gateway.url)).status).toBe(200);
    } finally {
      await gateway.close();
    }
  });
});

describe('the interface of this repository', () => {
  test('is what its sources make, and names files that are served', async () => {
    await ensureWebBuilt();
    const gateway = await startInProcess();
    try {
      const browser = await createAdministrator(gateway);
      const text = await (await browser.get('/')).text();
      const named = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = '']) => path);
      expect(named.some((path) => path.endsWith('.js'))).toBe(true);
      for (const path of named) {
        expect(path).toMatch(/^\/assets\//);
        const { status, headers } = await raw(gateway.url, path, { 'accept-encoding': 'br' });
        expect([path, status, headers['content-encoding']]).toEqual([path, 200, 'br']);
      }
      // The policy would stop it, and the page would stay white.
      expect(text).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=/);
    } finally {
      await gateway.close();
    }
  }, 60_000);
});
