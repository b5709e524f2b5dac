import { systemClock } from '@behalf/kernel';
import type { ScriptedOptions } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createHttpRig, stopHttpRigs } from '../../test/httpRig.ts';
import { createStdioLimits } from '../upstream/channel/stdioTransport.ts';
import { createListAll } from '../upstream/listAll.ts';
import { createOpenUpstream } from '../upstream/openUpstream.ts';
import { createInspectDefinition } from './probe.ts';
import { compileInput, toUserServer } from './validate.ts';

const refusal = { status: 401, headers: { 'www-authenticate': 'Bearer realm="planted"' } } as const;

async function lookAt(script: ScriptedOptions, more: Record<string, unknown> = {}) {
  const { server, parts } = await createHttpRig(script);
  const inspect = createInspectDefinition({
    open: createOpenUpstream({ ...parts, limits: createStdioLimits() }),
    listAll: createListAll({ clock: systemClock }),
  });
  const settings = compileInput('server', { type: 'streamable-http', url: server.url, ...more });
  return { server, looking: inspect(toUserServer(settings, { id: 'i', tenant: 't', author: 'a' })) };
}

describe('a look at a server that is not stored', () => {
  afterEach(stopHttpRigs);

  test('its tools are counted with what its definition holds', async () => {
    const { server, looking } = await lookAt(
      { era: 'legacy', tools: [{ name: 'a' }, { name: 'b' }] },
      { headers: { 'X-Key': 'mine' } },
    );
    expect(await looking).toEqual({ tools: 2 });
    expect(server.requests.every(({ headers }) => headers['x-key'] === 'mine')).toBe(true);
  });

  test('one that wants a sign-in is there; a key that is refused is wrong', async () => {
    const { looking } = await lookAt({ era: 'legacy', respond: () => refusal });
    expect(await looking).toEqual({});
    const keyed = await lookAt(
      { era: 'legacy', respond: () => refusal },
      { headers: { 'X-Api-Key': 'wrong' } },
    );
    await expect(keyed.looking).rejects.toMatchObject({ code: 'MCP_INSPECTION_FAILED' });
    await expect(keyed.looking).rejects.not.toThrow('planted');
  });

  test('what is no MCP server, or not to be reached, fails by name', async () => {
    const { looking } = await lookAt({ era: 'legacy', respond: () => ({ status: 404 }) });
    await expect(looking).rejects.toMatchObject({ code: 'MCP_INSPECTION_FAILED' });
    const closed = await lookAt({ era: 'legacy' }, { url: 'http://127.0.0.1:1/mcp' });
    await expect(closed.looking).rejects.toMatchObject({ code: 'MCP_DOMAIN_NOT_ALLOWED' });
  });
});
