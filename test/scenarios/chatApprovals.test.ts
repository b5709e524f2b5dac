import type { ApprovalsView, AuditView } from '@behalf/contracts';
import { eventually } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import {
  sendChat,
  listCalls,
  callThenReport,
  createChatYaml,
  createChatRig,
  extractText,
  type ChatStream,
} from './chatRig.ts';
import { startInProcess } from './inProcess.ts';
import { createAdjustableClock } from './adjustableClock.ts';
import { createUsers, connectUser, type TestUser } from './users.ts';

const clock = createAdjustableClock();
const rig = createChatRig({ clock });
const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const part of opened.splice(0)) await part.close();
});

const ran = () => rig.docs.received('tools/call').length;

/** Asks for a risky call, and waits until it waits. */
async function risk(args: object = { a: 1 }): Promise<{ stream: ChatStream; callId: string; path: string }> {
  rig.setScript(callThenReport({ name: 'risky_mcp_docs', args }));
  const stream = await sendChat(rig.users.ada, { text: 'be bold' });
  const { callId } = await stream.waitForEvent('approval');
  return { stream, callId, path: `/api/chat/${stream.conversationId}/approvals/${callId}` };
}

/** Another replica over the same store, with the same people. */
async function beside(who: TestUser): Promise<TestUser> {
  const yaml = createChatYaml({ model: rig.model.url, docs: rig.docs.url });
  const other = await startInProcess({ BEHALF_DATA_DIR: rig.gateway.dataDir }, yaml, clock, null);
  opened.push(other);
  return connectUser(other.url, who.id, who.cookie.slice(who.cookie.indexOf('=') + 1));
}

describe('a call that asks first', () => {
  test('waits for its user, and runs once when they say yes', async () => {
    const before = ran();
    const { stream, callId, path } = await risk();
    expect((await stream.waitForEvent('approval')).expiresAt).toBe(clock.now() + 10 * 60_000);
    expect(ran()).toBe(before);
    const answer = await rig.users.ada.post(path, { approve: true });
    expect([answer.status, await answer.json()]).toEqual([200, { id: callId, approved: true }]);
    const { message } = await stream.waitUntilDone();
    expect(listCalls(message)[0]).toMatchObject({ callId, state: 'done' });
    expect(stream.events.map(({ event }) => event)).toEqual([
      'tool_call',
      'approval',
      'result',
      'text',
      'done',
    ]);
    expect(ran()).toBe(before + 1);
    // It was good for that one run.
    const again = await rig.users.ada.post(path, { approve: true });
    expect([again.status, await again.json()]).toMatchObject([404, { code: 'MCP_APPROVAL_NOT_FOUND' }]);
    const next = await risk();
    expect(ran()).toBe(before + 1);
    next.stream.disconnect();
  });

  test('does not run when they say no, and the model is told', async () => {
    const before = ran();
    const { stream, path } = await risk({ a: 2 });
    expect((await rig.users.ada.post(path, { approve: false })).status).toBe(200);
    const { message } = await stream.waitUntilDone();
    const [call] = listCalls(message);
    expect([call?.state, call?.problem, call?.result]).toEqual(['denied', undefined, undefined]);
    expect(extractText(message)).toContain('denied it');
    expect(ran()).toBe(before);
  });

  test('does not run when nobody says anything in time', async () => {
    const before = ran();
    const { stream, path } = await risk({ a: 3 });
    clock.advance(10 * 60_000);
    const { message } = await stream.waitUntilDone();
    expect(listCalls(message)[0]).toMatchObject({
      state: 'denied',
      problem: { code: 'MCP_APPROVAL_NOT_FOUND' },
    });
    expect(extractText(message)).toContain('It was not approved in time');
    expect((await rig.users.ada.post(path, { approve: true })).status).toBe(404);
    expect(ran()).toBe(before);
  });

  test('also hears a word that was given without the chat', async () => {
    const { ada } = rig.users;
    for (const approve of [true, false]) {
      const { stream } = await risk({ a: approve ? 4 : 5 });
      const { approvals } = (await (await ada.get('/api/mcp/approvals')).json()) as ApprovalsView;
      expect(approvals).toHaveLength(1);
      await ada.post(`/api/mcp/approvals/${approvals[0]!.id}`, { approve });
      expect(listCalls((await stream.waitUntilDone()).message)[0]?.state).toBe(approve ? 'done' : 'denied');
    }
  });

  test('hears a word that was given at another replica', async () => {
    const ada = await beside(rig.users.ada);
    const before = ran();
    const { stream, path } = await risk({ a: 6 });
    expect((await ada.post(path, { approve: true })).status).toBe(200);
    expect(listCalls((await stream.waitUntilDone()).message)[0]?.state).toBe('done');
    expect(ran()).toBe(before + 1);
  });

  test('an answer is stopped, seen and not doubled from another replica', async () => {
    const ada = await beside(rig.users.ada);
    const { stream } = await risk({ a: 7 });
    const path = `/api/chat/${stream.conversationId}`;
    expect(await (await ada.get(path)).json()).toMatchObject({ isRunning: true });
    const busy = await sendChat(ada, { text: 'me too', conversationId: stream.conversationId });
    expect([busy.status, busy.problem?.code]).toEqual([409, 'CHAT_BUSY']);
    expect((await ada.post(`${path}/stop`)).status).toBe(202);
    const { finish, message } = await stream.waitUntilDone();
    expect([finish, listCalls(message)[0]?.state]).toEqual(['stopped', 'cancelled']);
    expect(await (await ada.get(path)).json()).toMatchObject({ isRunning: false });
  });

  test('is approved by its user alone, who is a person', async () => {
    const { ada, bob } = rig.users;
    const before = ran();
    const { stream, path } = await risk({ a: 8 });
    const his = await bob.post(path, { approve: true });
    expect([his.status, await his.json()]).toMatchObject([404, { code: 'CHAT_NOT_FOUND' }]);
    const made = await ada.post('/api/user/keys', { name: 'program', scopes: ['mcp'] });
    const { key } = (await made.json()) as { key: string };
    // Not even whether a call waits is told to a program.
    for (const at of [path, path.replace(/[^/]+$/, 'unknown')]) {
      const programs = await fetch(new URL(at, rig.gateway.url), {
        method: 'POST',
        body: JSON.stringify({ approve: true }),
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      });
      expect([programs.status, await programs.json()]).toMatchObject([403, { code: 'API_KEY_SCOPE' }]);
    }
    expect((await ada.post(path, { approve: 'yes' })).status).toBe(400);
    expect((await ada.post(path.replace(/[^/]+$/, 'unknown'), { approve: true })).status).toBe(404);
    expect(ran()).toBe(before);
    await ada.post(path, { approve: false });
    await stream.waitUntilDone();
  });

  test('is not to be approved any more when the answer was stopped', async () => {
    const { ada } = rig.users;
    const before = ran();
    const { stream, path } = await risk({ a: 9 });
    await ada.post(`/api/chat/${stream.conversationId}/stop`);
    await stream.waitUntilDone();
    expect(await (await ada.get('/api/mcp/approvals')).json()).toEqual({ approvals: [] });
    expect((await ada.post(path, { approve: true })).status).toBe(404);
    expect(ran()).toBe(before);
  });

  test('asks for itself, also beside one that is just like it', async () => {
    const { ada } = rig.users;
    const before = ran();
    const twin = { name: 'risky_mcp_docs', args: { a: 10 } };
    rig.setScript(callThenReport(twin, twin));
    const stream = await sendChat(ada, { text: 'twice' });
    const first = await stream.waitForEvent('approval');
    const path = `/api/chat/${stream.conversationId}/approvals`;
    expect((await ada.post(`${path}/${first.callId}`, { approve: true })).status).toBe(200);
    const second = await stream.waitForEvent('approval', 1);
    expect(second.callId).not.toBe(first.callId);
    expect(ran()).toBe(before + 1);
    await ada.post(`${path}/${second.callId}`, { approve: false });
    const { message } = await stream.waitUntilDone();
    expect(
      listCalls(message)
        .map(({ state }) => state)
        .sort(),
    ).toEqual(['denied', 'done']);
    expect(ran()).toBe(before + 1);
  });

  test('is written down as every approval is, with the door it came by', async () => {
    rig.setScript(callThenReport({ name: 'risky_mail_mcp_docs', args: { a: 11 } }));
    const stream = await sendChat(rig.users.ada, { text: 'send it' });
    const { callId } = await stream.waitForEvent('approval');
    await rig.users.ada.post(`/api/chat/${stream.conversationId}/approvals/${callId}`, { approve: true });
    await stream.waitUntilDone();
    const [admin] = await createUsers(rig.gateway, [{ name: 'Root', role: 'ADMIN' }]);
    const entries = await eventually('the audit', async () => {
      const view = (await (await admin!.get('/api/admin/audit?limit=200')).json()) as AuditView;
      const mine = (view.events as Record<string, unknown>[]).filter(({ tool }) => tool === 'risky_mail');
      return mine.length === 4 && mine;
    });
    // The clock of this file stands still, so they have no order.
    expect(entries.map(({ action, door, outcome }) => [action, door, outcome].join(' ')).sort()).toEqual([
      'approval.approve rest ok',
      'approval.request chat ok',
      'tool.call chat ok',
      'tool.call chat refused',
    ]);
    expect(JSON.stringify(entries)).not.toContain('"a":11');
  });
});
