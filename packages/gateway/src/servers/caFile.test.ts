import { describe, expect, test } from '@jest/globals';
import { baseDefinition, createRegistryRig, createStoredDefinition } from '../../test/registryRig.ts';
import { compileSettings } from '../../test/servers.ts';
import { renderTarget } from '../definitions/render.ts';

const caFile = '/etc/behalf/ca.pem';

describe('the authority of a server', () => {
  test('reaches every kind of connection', () => {
    const context = { audience: 'yaml-server', inheritedEnv: {} } as const;
    for (const definition of [
      { caFile },
      { type: 'sse', caFile },
      { type: 'websocket', url: 'wss://mcp.example/mcp', caFile },
    ]) {
      const target = renderTarget(compileSettings(definition), {}, context);
      expect([definition, target]).toEqual([
        definition,
        { ok: true, target: expect.objectContaining({ caFile }) as unknown },
      ]);
    }
    expect(renderTarget(compileSettings(), {}, context)).toMatchObject({ target: { caFile: undefined } });
    expect(
      renderTarget(compileSettings({ caFile: '${DIR}/ca.pem' }, { DIR: '/etc' }), {}, context),
    ).toMatchObject({
      target: { caFile: '/etc/ca.pem' },
    });
  });

  test('is the operator’s to name: in the file, and nowhere else', () => {
    const override = (definition: object) => [{ tenant: 'default', name: 'one', definition, securedBy: 'u' }];
    const targetOf = (overrides: ReturnType<typeof override>) => {
      const server = createRegistryRig({ one: { ...baseDefinition, caFile } }, { overrides }).registry.find(
        'default',
        'one',
      );
      return server?.scope === 'app' ? server.target : undefined;
    };
    expect(targetOf([])).toMatchObject({ caFile });
    // An administrator who leads it elsewhere does not get rid of it that way.
    expect(targetOf(override({ url: 'https://else.example/mcp' }))).toMatchObject({
      ...{ url: 'https://else.example/mcp', caFile, audience: 'user-server' },
    });
    expect(targetOf(override({ caFile: '/etc/passwd' }))).toBeUndefined();
    const own = { ...baseDefinition, caFile };
    const { registry, logged } = createRegistryRig(
      {},
      { stored: [createStoredDefinition({ definition: own })] },
    );
    expect(registry.list('default')).toEqual([]);
    expect(logged).toEqual([
      'server_not_offered mine: mcpServers.mine.caFile can be set by the operator only',
    ]);
  });
});
