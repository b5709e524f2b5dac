import type { RequestListener } from 'node:http';
import { afterEach, describe, expect, test } from '@jest/globals';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { acceptedContent, createMcpHandler, inputRequired, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { listenOnLoopback, startEverythingHttp } from '../../test/mcpServers.ts';
import { createRecordingPeer, createRelayTo, stopRelayRigs } from '../../test/relayRig.ts';
import type { JsonObject } from '../upstream/upstream.ts';

afterEach(stopRelayRigs);

const textOf = ({ result }: { result: JsonObject }) => JSON.stringify(result['content']);

describe('the reference server', () => {
  test('asks with a form and goes on with the answer', async () => {
    const { call } = createRelayTo(await startEverythingHttp());
    const { peer, requests } = createRecordingPeer({
      action: 'accept',
      content: { name: 'Grace Hopper', check: true },
    });
    const answer = await call('trigger-elicitation-request', { peer });
    expect(textOf(answer)).toContain('Grace Hopper');
    expect(requests).toMatchObject([{ method: 'elicitation/create', params: { requestedSchema: {} } }]);
  });

  test('gets an answer of the client’s model where it is lent', async () => {
    const { call } = createRelayTo(await startEverythingHttp(), { definition: { relay: ['sampling'] } });
    const content = { type: 'text', text: 'what the model said' };
    const { peer, requests } = createRecordingPeer({ role: 'assistant', model: 'm', content });
    const answer = await call('trigger-sampling-request', { peer }, { prompt: 'Say it', maxTokens: 5 });
    expect(textOf(answer)).toContain('what the model said');
    expect(requests.map(({ method }) => method)).toEqual(['sampling/createMessage']);
  });
});

describe('a server on the second SDK', () => {
  const requestedSchema = z.object({ name: z.string() });
  const start = () =>
    listenOnLoopback(
      toNodeHandler(
        createMcpHandler(() => {
          const server = new McpServer({ name: 'asks', version: '1.0.0' });
          server.registerTool('ask', { inputSchema: z.object({}) }, (_args, { mcpReq }) => {
            const accepted = acceptedContent(mcpReq.inputResponses, 'who', requestedSchema);
            if (accepted) return { content: [{ type: 'text', text: `Hello ${accepted.name}` }] };
            return inputRequired({
              inputRequests: { who: inputRequired.elicit({ message: 'Who?', requestedSchema }) },
              requestState: 'round one',
            });
          });
          return server;
        }),
      ) as unknown as RequestListener,
    );

  test('asks back, and answers the call that brings what it wants', async () => {
    const { call } = createRelayTo(await start());
    const { peer } = createRecordingPeer({}, { era: 'modern' });
    const first = await call('ask', { peer });
    expect(first).toMatchObject({ kind: 'input_required', result: { requestState: 'round one' } });
    const inputResponses = { who: { action: 'accept', content: { name: 'Ada' } } };
    const second = await call('ask', {
      peer: { ...peer, retry: { inputResponses, requestState: 'round one' } },
    });
    expect(textOf(second)).toContain('Hello Ada');
  });

  test('gets the answers of a caller who is asked in the middle of the call', async () => {
    const { call } = createRelayTo(await start());
    const { peer, requests } = createRecordingPeer({ action: 'accept', content: { name: 'Ada' } });
    expect(textOf(await call('ask', { peer }))).toContain('Hello Ada');
    expect(requests).toMatchObject([{ method: 'elicitation/create', params: { mode: 'form' } }]);
  });

  test('is not asked to ask who cannot be asked', async () => {
    const { call, rig } = createRelayTo(await start());
    for (const peer of [undefined, createRecordingPeer({}, { capabilities: {} }).peer]) {
      await expect(call('ask', { peer })).rejects.toMatchObject({ code: 'MCP_DIALOGUE_UNSUPPORTED' });
    }
    // It has said so with the first call, and nothing else was asked of it for that.
    expect(rig.audited.map(({ outcome }) => outcome)).toEqual(['refused', 'refused']);
  });
});
