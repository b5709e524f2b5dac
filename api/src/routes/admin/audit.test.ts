import { type Server, createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AuditVerifyView, AuditView } from '@behalf/contracts';
import { type AuditEvent, GatewayError, type UserPrincipal, createAuditLog } from '@behalf/gateway';
import type { AuditStore } from '@behalf/gateway/ports';
import { createKeyring, systemClock, systemRandom } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { eventually } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createProblemMap } from '../../http/errors.ts';
import { createApp } from '../../http/server.ts';
import { auditRoutes } from './audit.ts';

const random = systemRandom;
const clock = systemClock;
const quiet = () => undefined;
const logger = { error: quiet, warn: quiet, info: quiet, debug: quiet };

const event: AuditEvent = {
  kind: 'call',
  action: 'tool.call',
  tenant: 'acme',
  actor: { kind: 'user', id: 'u1', by: 'session' },
  door: 'rest',
  outcome: 'ok',
};

describe('the doors to the audit log', () => {
  const servers: Server[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });

  /** `tenant` is whose administrator asks. */
  async function begin(wrap: (store: AuditStore) => AuditStore = (store) => store) {
    const { audit, raw } = openMemoryStore({ clock, random });
    const keyring = createKeyring([new Uint8Array(32).fill(1)], random);
    const auditLog = createAuditLog({ store: audit, keyring, clock, random, log: quiet });
    const caller = { tenant: 'acme' };
    let admitted = 0;
    const listener = createApp({
      routes: auditRoutes({ store: wrap(audit), keyring, auditLog }),
      admission: {
        check: quiet,
        checkOrigin: quiet,
        authenticate() {
          admitted += 1;
          return { kind: 'user', role: 'ADMIN', ...caller } as UserPrincipal;
        },
      },
      headers: {},
      problemOf: createProblemMap({ random, logger }),
      trustProxy: 0,
    });
    const server = createServer(listener).listen(0, '127.0.0.1');
    servers.push(server);
    await new Promise((resolve) => server.once('listening', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/admin/audit`;
    return {
      auditLog,
      raw,
      url,
      admitted: () => admitted,
      asTenant: (tenant: string) => (caller.tenant = tenant),
      ask: (rest = '') => fetch(url + rest),
    };
  }

  test('pages of the caller’s own tenant, by filters', async () => {
    const { auditLog, ask, asTenant } = await begin();
    for (const tool of ['a', 'b', 'c']) await auditLog.record({ ...event, tool });
    await auditLog.record({ ...event, tenant: 'other', tool: 'theirs' });
    const answer = await ask('?kind=call&from=2020-01-01&to=2999-01-01T00:00:00Z&limit=2');
    expect(answer.status).toBe(200);
    const first = AuditView.parse(await answer.json());
    expect(first.events).toMatchObject([{ tool: 'c' }, { tool: 'b' }]);
    const second = AuditView.parse(await (await ask(`?limit=2&cursor=${first.next}`)).json());
    expect(second).toEqual({ events: [expect.objectContaining({ tool: 'a' })] });
    expect(await (await ask('?tool=theirs')).json()).toEqual({ events: [] });
    asTenant('other');
    expect(await (await ask()).json()).toMatchObject({ events: [{ tool: 'theirs' }] });
  });

  test('what is asked wrongly is refused, and says where', async () => {
    const { ask } = await begin();
    const wrong = [
      'limit=0',
      'limit=1001',
      'limit=x',
      'limit=-1',
      'kind=all',
      'outcome=good',
      'from=yesterday',
    ];
    wrong.push('cursor=x', 'cursor=', 'tenant=other', 'tool=a&tool=b', `tool=${'x'.repeat(201)}`, 'to=1');
    for (const query of wrong) {
      const answer = await ask(`?${query}`);
      expect([query, answer.status]).toEqual([query, 400]);
      expect(await answer.json()).toMatchObject({ code: 'REQUEST_INVALID' });
    }
    expect((await ask('/export?limit=1')).status).toBe(400);
    expect((await ask('/export?cursor=x')).status).toBe(400);
  });

  test('JSON lines of the caller’s own tenant', async () => {
    const { auditLog, ask } = await begin();
    expect(await (await ask('/export')).text()).toBe('');
    for (let i = 0; i < 30; i += 1) {
      await auditLog.record({ ...event, tool: `t${i}`, tenant: i % 3 === 0 ? 'other' : 'acme' });
    }
    const answer = await ask('/export?action=tool.call');
    expect(answer.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="audit.jsonl"');
    const lines = (await answer.text()).trimEnd().split('\n');
    expect(lines).toHaveLength(20);
    expect(JSON.parse(lines[0]!)).toMatchObject({ tool: 't29', tenant: 'acme', id: expect.any(String) });
    expect(lines.filter((line) => line.includes('other'))).toEqual([]);
  });

  test('a failure on the way breaks the answer off; one before it has a status', async () => {
    let pages = 0;
    let failAt = 2;
    const { auditLog, ask } = await begin((store) => ({
      ...store,
      page(range, limit) {
        pages += 1;
        if (pages === failAt) throw new GatewayError('STORE_UNAVAILABLE');
        return store.page(range, limit);
      },
    }));
    for (let i = 0; i < 20; i += 1) await auditLog.record(event);
    const broken = await ask('/export');
    expect(broken.status).toBe(200);
    await expect(broken.text()).rejects.toThrow();
    failAt = pages + 1;
    expect((await ask('/export')).status).toBe(503);
  });

  test('who leaves is not read for any more', async () => {
    let pages = 0;
    let removal = Promise.resolve();
    const { auditLog, url } = await begin((store) => ({
      ...store,
      async page(range, limit) {
        pages += 1;
        if (pages === 2) await removal;
        return store.page(range, limit);
      },
    }));
    for (let i = 0; i < 500; i += 1) await auditLog.record(event);
    for (const rest of ['/export', '/export?tool=none', '?tool=none']) {
      pages = 0;
      let left: () => void = quiet;
      removal = new Promise((resolve) => (left = resolve));
      const request = get(url + rest, { agent: false });
      request.on('error', quiet);
      await eventually('the second page is asked for', () => pages === 2);
      request.destroy();
      await new Promise((resolve) => request.once('close', resolve));
      const connections = () =>
        new Promise<number>((resolve) => servers[0]!.getConnections((_error, count) => resolve(count)));
      await eventually('the server has noticed', async () => (await connections()) === 0);
      left();
      for (let i = 0; i < 20; i += 1) await new Promise((resolve) => setImmediate(resolve));
      expect([rest, pages]).toEqual([rest, 2]);
    }
  });

  test('a report, made once for all who ask at once', async () => {
    let scans = 0;
    let go: () => void = quiet;
    const allAsked = new Promise<void>((resolve) => (go = resolve));
    const { auditLog, raw, ask, admitted, asTenant } = await begin((store) => ({
      ...store,
      async listWriters() {
        scans += 1;
        await allAsked;
        return store.listWriters();
      },
    }));
    for (let i = 0; i < 50; i += 1) await auditLog.record(event);
    asTenant('default');
    const asking = [ask('/verify'), ask('/verify'), ask('/verify')];
    await eventually('all three are in', () => admitted() === 3);
    await new Promise((resolve) => setImmediate(resolve));
    go();
    const answers = await Promise.all(asking);
    expect(scans).toBe(1);
    for (const answer of answers) {
      expect(AuditVerifyView.parse(await answer.json())).toMatchObject({
        ok: true,
        writers: 1,
        segments: 50,
      });
    }
    const [first] = await raw.page('audit', null, 1);
    await raw.put('audit', [{ ...first!, events: first!.events.replace('u1', 'u2') }]);
    expect(await (await ask('/verify')).json()).toMatchObject({
      ok: false,
      problems: [{ seq: 1, problem: 'changed' }],
    });
  });
});
