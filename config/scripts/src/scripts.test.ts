import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createAccounts, createPasswords, isStoreKeyValid, queryAudit } from '@behalf/gateway';
import { createKeyring, systemClock, systemRandom } from '@behalf/kernel';
import { openSqliteStore } from '@behalf/stores/sqlite';
import { freePort } from '@behalf/testkit';
import { createMongoDouble } from '@behalf/testkit/mongo-double';
import { aRole } from '@behalf/testkit/suites';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const OLD = 'a1'.repeat(32);
const NEW = 'b2'.repeat(32);
const SECRET = 'pl4nted-S3cret';
let dir = '';

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'behalf-scripts-'));
  await mkdir(join(dir, 'data'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

/** A command in a process of its own, with nothing of the test run's environment. */
async function launch(args: readonly string[], env: Record<string, string> = {}, input = '') {
  const loader = join(root, 'tools/ts-loader.mjs');
  const child = spawn(process.execPath, ['--no-warnings', '--import', loader, ...args], {
    cwd: dir,
    env: { PATH: process.env['PATH'] ?? '', CREDS_KEY: OLD, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.end(input);
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}

const run = (script: string, args: readonly string[], env?: Record<string, string>, input?: string) =>
  launch([join(root, 'config/scripts/src', `${script}.ts`), ...args], env, input);
const copy = (from: string, to: string, env?: Record<string, string>) =>
  run('store', ['copy', '--from', from, '--to', to], env);
const ring = (...keys: string[]) =>
  createKeyring(
    keys.map((key) => Buffer.from(key, 'hex')),
    systemRandom,
  );
const openFile = () =>
  openSqliteStore({ clock: systemClock, random: systemRandom, file: join(dir, 'data/behalf.db') });

/** The accounts of a store under these keys. */
function accountsOf(store: Awaited<ReturnType<typeof openFile>>, ...keys: string[]) {
  return createAccounts({
    users: store.users,
    changes: store.changes,
    passwords: createPasswords(systemRandom),
    keyring: ring(...keys),
    clock: systemClock,
    random: systemRandom,
  });
}

const login = { email: 'a@b.c', password: 'correct horse battery' };

async function fill(): Promise<void> {
  const store = await openFile();
  expect(await isStoreKeyValid(store.system, ring(OLD))).toBe(true);
  await accountsOf(store, OLD).create({ ...login, name: 'Ada', role: 'USER' });
  await store.close();
}

describe('npm run store -- copy', () => {
  test('knows a file again under another spelling', async () => {
    await fill();
    await symlink(join(dir, 'data'), join(dir, 'linked'));
    // Nothing is opened to find out: an opened one would be refused for the gateway on it.
    const store = await openFile();
    await store.system.heartbeat('gateway', 60_000);
    await store.close();
    const absolute = `sqlite:${join(dir, 'data/behalf.db')}`;
    for (const other of ['sqlite:./data/../data/behalf.db', 'sqlite:linked/behalf.db', absolute]) {
      const { code, output } = await copy('sqlite:data/behalf.db', other);
      expect({ code, output }).toEqual({ code: 1, output: 'Source and target are the same store.\n' });
    }
  });

  test('knows a MongoDB again, without asking it', async () => {
    const uri = 'mongodb://one.invalid:27017,two.invalid/behalf';
    for (const other of [
      'mongodb://two.invalid,One.invalid',
      'mongodb://ada:secret-word@two.invalid:27017,one.invalid/behalf?w=majority',
    ]) {
      const { output } = await copy(uri, other);
      expect(output).toBe('Source and target are the same store.\n');
    }
  });

  test('takes a store from a variable, or from .env', async () => {
    await fill();
    const double = await createMongoDouble();
    try {
      await writeFile(join(dir, '.env'), `SOURCE=sqlite:data/behalf.db\n`);
      const { code, output } = await copy('env:SOURCE', 'env:TARGET', { TARGET: double.uri });
      expect(output).toContain('Copied and verified: 1 system, 1 users');
      expect(code).toBe(0);
    } finally {
      await double.close();
    }
  });

  test('never prints what a variable holds', async () => {
    await fill();
    const missing = await copy('sqlite:data/behalf.db', 'env:NOWHERE');
    expect(missing).toEqual({ code: 1, output: 'env:NOWHERE: the variable NOWHERE is not set.\n' });
    const mistyped = await copy('sqlite:data/behalf.db', 'env:TARGET', { TARGET: `mongo://u:${SECRET}@h` });
    expect(mistyped.code).toBe(1);
    expect(mistyped.output).toMatch(/^env:TARGET: its value is neither sqlite:FILE nor a MongoDB URI\.\n$/);
  });

  test('a store that is away is one line, without the password', async () => {
    await fill();
    const away = `mongodb://ada:${SECRET}@127.0.0.1:${await freePort()}/behalf?serverSelectionTimeoutMS=200`;
    const { code, output } = await copy('sqlite:data/behalf.db', 'env:TARGET', { TARGET: away });
    expect(code).toBe(1);
    expect(output).toMatch(/^The mongo store does not respond \(.*\)\. Check that it runs .*\n$/);
    expect(output).not.toContain(SECRET);
  });

  test('what a driver may say about a URI does not show it', async () => {
    const environment = JSON.stringify(join(root, 'config/scripts/src/environment.ts'));
    const odd = `${SECRET}/with@odd`;
    // Today's drivers keep URIs to themselves; the next version may not.
    const code = `import { runScript } from ${environment};
      const said = process.env.MONGO_URI + ' ' + process.env.TARGET + ' ${odd} ' + process.env.CREDS_KEY;
      await runScript(async () => { throw Object.assign(new Error(said), { name: process.env.NAME }); });`;
    for (const NAME of ['MongoServerError', 'CommandError']) {
      const { code: exit, output } = await launch(['--input-type=module', '-e', code], {
        NAME,
        MONGO_URI: `mongodb://ada:${SECRET}@h/behalf`,
        TARGET: `mongodb://ada:${odd}@h/behalf`,
      });
      expect(exit).toBe(1);
      expect(output).toContain('[redacted]');
      expect(output).not.toContain(SECRET);
      expect(output).not.toContain(OLD);
      expect(output.split('\n').some((line) => line.startsWith('    at '))).toBe(NAME !== 'CommandError');
    }
  });

  test('a mistyped option is one line', async () => {
    const { code, output } = await run('store', ['copy', '--form', 'x']);
    expect(code).toBe(1);
    expect(output).toMatch(/^Unknown option '--form'.*\n$/);
  });
});

describe('npm run rotate-key', () => {
  test('leaves a store that the new key alone opens', async () => {
    await fill();
    const CREDS_KEY = `${NEW},${OLD}`;
    const first = await run('rotateKey', [], { CREDS_KEY });
    expect(first.output).toMatch(/^Re-encrypted: users 1 of 1, system 1 of 1\. .* remove the other keys/);
    expect(first.code).toBe(0);
    const again = await run('rotateKey', [], { CREDS_KEY: NEW });
    expect(again.output).toMatch(/^Re-encrypted: users 0 of 1, system 0 of 1\./);
    const refused = await run('rotateKey', [], { CREDS_KEY: OLD });
    expect(refused.code).toBe(1);
    expect(refused.output).toMatch(/^CREDS_KEY does not contain the key this store was sealed with\..*\n$/);
    const store = await openFile();
    expect(await isStoreKeyValid(store.system, ring(NEW))).toBe(true);
    const user = await accountsOf(store, NEW).authenticate(login.email, login.password);
    expect(user?.email).toBe(login.email);
    await store.close();
  });

  test('goes on beside a gateway that is alive', async () => {
    await fill();
    const store = await openFile();
    await store.system.heartbeat('gateway', 60_000);
    const { code, output } = await run('rotateKey', [], { CREDS_KEY: `${NEW},${OLD}` });
    expect(output).toMatch(/^Re-encrypted: users 1 of 1, system 1 of 1\. /);
    expect(code).toBe(0);
    expect(await isStoreKeyValid(store.system, ring(NEW))).toBe(true);
    await store.close();
  });
});

describe('npm run set-role', () => {
  test('gives a role that exists, for good, whatever a token says', async () => {
    await fill();
    const setRole = (role: string) => run('setRole', ['--email', 'A@b.c', '--role', role]);
    const unknown = await setRole('EDITORS');
    expect(unknown.code).toBe(1);
    expect(unknown.output).toMatch(/^--role must be one of ADMIN, USER\. Usage: .*\n$/);
    const store = await openFile();
    await store.roles.insert(aRole({ name: 'EDITORS' }));
    await store.roles.insert(aRole({ name: 'ELSEWHERE', tenant: 'other' }));
    const [user] = await store.users.list('default', { after: null, limit: 1 });
    await store.users.update(user!.id, { roleSource: 'claim', roleConfirmedAt: 1 }, 1);
    expect((await setRole('ELSEWHERE')).code).toBe(1);
    expect(await setRole('EDITORS')).toEqual({ code: 0, output: 'a@b.c is now EDITORS\n' });
    expect(await store.users.findById(user!.id)).toMatchObject({
      role: 'EDITORS',
      roleSource: 'manual',
      roleConfirmedAt: null,
    });
    await store.close();
    // Four processes, one after the other.
  }, 80_000);
});

/** What the audit tells, the oldest first. */
async function readMessage(store: Awaited<ReturnType<typeof openFile>>) {
  const query = { tenant: 'default', filters: {}, limit: 100 };
  const { events } = await queryAudit({ store: store.audit, yieldToEventLoop: async () => undefined }, query);
  return [...events].reverse();
}

const byOperator = { kind: 'permission', actor: { kind: 'operator', id: '' }, door: 'script' };

describe('commands about accounts', () => {
  /** Each command is a process that hashes a password or opens a store: slow on a busy machine. */
  const PATIENCE_MS = 60_000;
  const setRole = (role: string, ...more: string[]) =>
    run('setRole', ['--email', 'a@b.c', '--role', role, ...more]);
  const createUser = (email: string, role: string) =>
    run('createUser', ['--email', email, '--role', role], {}, `${login.password}\n`);

  test(
    'somebody remains administrator, unless it is forced',
    async () => {
      await fill();
      const store = await openFile();
      const [user] = await store.users.list('default', { after: null, limit: 1 });
      await store.users.update(user!.id, { role: 'ADMIN' }, 1);
      const roleOf = async () => (await store.users.findById(user!.id))?.role;
      // Who cannot sign in administers nothing.
      const idle = { ...login, email: 'idle@b.c', name: 'Idle', role: 'ADMIN' };
      const { id } = await accountsOf(store, OLD).create(idle);
      await store.users.update(id, { disabledAt: 1 }, 1);
      const refused = await setRole('USER');
      expect(refused.output).toMatch(/^This is the only ADMIN\. .* --force\.\n$/);
      expect([refused.code, await roleOf()]).toEqual([1, 'ADMIN']);
      expect([(await setRole('USER', '--force')).code, await roleOf()]).toEqual([0, 'USER']);
      await store.close();
    },
    PATIENCE_MS,
  );

  test(
    'who was made or given a role is told, refusals too',
    async () => {
      await fill();
      const store = await openFile();
      const [user] = await store.users.list('default', { after: null, limit: 1 });
      expect((await setRole('ADMIN')).code).toBe(0);
      expect((await setRole('USER')).code).toBe(1);
      expect((await createUser('bob@b.c', 'USER')).code).toBe(0);
      const bob = await store.users.findByIdentity('default', 'local', 'bob@b.c');
      const events = await readMessage(store);
      expect(events).toMatchObject([
        { ...byOperator, action: 'user.change', outcome: 'ok', subject: user!.id, changed: ['role'] },
        { ...byOperator, action: 'user.change', outcome: 'refused', subject: user!.id, code: 'LAST_ADMIN' },
        { ...byOperator, action: 'user.create', outcome: 'ok', subject: bob!.id, changed: ['role'] },
      ]);
      expect(JSON.stringify(events)).not.toContain(login.password);
      await store.close();
    },
    PATIENCE_MS,
  );

  test(
    'with a role of one’s own, if there is one',
    async () => {
      const store = await openFile();
      expect(await createUser('bob@b.c', 'EDITORS')).toMatchObject({
        code: 1,
        output: expect.stringMatching(/^--role must be one of ADMIN, USER\. Usage: .*\n$/),
      });
      await store.roles.insert(aRole({ name: 'EDITORS' }));
      const { code, output } = await createUser('Bob@b.c', 'EDITORS');
      expect(output).toMatch(/^Created bob@b\.c \(EDITORS\), id .+\n$/);
      expect(code).toBe(0);
      await store.close();
    },
    PATIENCE_MS,
  );
});

describe('a store of another storage format', () => {
  test('is refused by every command with one line, and stays as it is', async () => {
    await fill();
    const { default: Libsql } = await import('libsql');
    const db = new Libsql(join(dir, 'data/behalf.db'));
    db.exec('PRAGMA user_version = 10');
    db.close();
    const refusal =
      /^The data directory \S+ uses storage format 10 of an earlier preview\. This version reads format 100 only\. .*\n$/;
    for (const { code, output } of [
      await copy('sqlite:data/behalf.db', 'sqlite:data/copy.db'),
      await run('rotateKey', [], { CREDS_KEY: `${NEW},${OLD}` }),
      await run('setRole', ['--email', login.email, '--role', 'ADMIN']),
    ]) {
      expect(output).toMatch(refusal);
      expect(code).toBe(1);
    }
  });
});
