import { scriptedTasks, tasksExtension } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createRecordingPeer, createRelayRig, stopRelayRigs } from '../../test/relayRig.ts';
import { captureRejection } from '../../test/toolcallRig.ts';

afterEach(stopRelayRigs);

const stubborn = {
  name: 'slow',
  handler: () => ({ resultType: 'task', taskId: 'own', status: 'working', ttlMs: 5 }),
};

describe('a server that begins a task', () => {
  test('for who takes one: all that it takes to ask after it', async () => {
    const { call } = await createRelayRig({ ...scriptedTasks(), tools: [stubborn] });
    const { peer } = createRecordingPeer({}, { era: 'modern', capabilities: tasksExtension });
    const outcome = await call('slow', { peer });
    const targetFingerprint = expect.any(String) as unknown;
    expect(outcome.kind === 'task' && outcome.task).toEqual({
      server: 'odd',
      serverId: 'odd',
      tool: 'slow',
      id: 'own',
      ttlMs: 5,
      targetFingerprint,
    });
  });

  test('for a caller with a session, whatever that one declared', async () => {
    const { call, server } = await createRelayRig({ ...scriptedTasks(), tools: [stubborn] });
    const { peer } = createRecordingPeer({}, { capabilities: tasksExtension });
    for (const by of [{ peer }, {}])
      expect(await captureRejection(call('slow', by))).toMatchObject({ code: 'MCP_PROTOCOL_ERROR' });
    expect(server.requests.some(({ text }) => text.includes('modelcontextprotocol/tasks'))).toBe(false);
  });

  test('is not asked a second time, whoever vouches for the tool', async () => {
    const { call, server } = await createRelayRig(
      { ...scriptedTasks(), tools: [stubborn] },
      { definition: { idempotentTools: ['slow'] } },
    );
    expect(await captureRejection(call('slow', {}))).toMatchObject({ code: 'MCP_PROTOCOL_ERROR' });
    expect(server.received('tools/call')).toHaveLength(1);
  });
});
