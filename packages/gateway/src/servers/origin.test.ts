import { describe, expect, test } from '@jest/globals';
import { baseDefinition, createRegistryRig, createStoredDefinition } from '../../test/registryRig.ts';

describe('what the registry knows besides its servers', () => {
  test('while nobody knows what is overridden there is no server, and every name may be taken', () => {
    const { registry } = createRegistryRig(
      { one: baseDefinition },
      { overrides: 'unknown', stored: [createStoredDefinition()] },
    );
    expect([registry.list('default'), registry.listAll()]).toEqual([[], []]);
    expect(registry.isReserved('default', 'any')).toBe(true);
    registry.update({ overrides: [] });
    expect(registry.list('default')).toHaveLength(2);
    expect(registry.isReserved('default', 'any')).toBe(false);
  });

  test('one that could not be read hides its base', () => {
    const overrides = [{ tenant: 'acme', name: 'one', definition: null }];
    const { registry } = createRegistryRig({ one: baseDefinition }, { overrides });
    expect(registry.find('acme', 'one')).toBeUndefined();
    expect(registry.find('other', 'one')).toBeDefined();
  });

  test('what was written is known for every source, unfilled', () => {
    const file = { ...baseDefinition, headers: { A: '${TOKEN}' } };
    const { registry } = createRegistryRig(
      { one: file, two: baseDefinition },
      {
        stored: [createStoredDefinition()],
        overrides: [{ tenant: 'default', name: 'two', definition: { timeout: 5 }, version: 3, updatedAt: 9 }],
      },
    );
    const originOf = (name: string) => registry.origin(registry.find('default', name)!);
    expect(originOf('one')).toEqual({ definition: file });
    expect(originOf('two')).toEqual({
      definition: { ...baseDefinition, timeout: 5 },
      version: 3,
      updatedAt: 9,
    });
    expect(originOf('mine')).toEqual({
      definition: createStoredDefinition().definition,
      version: 1,
      updatedAt: 7,
    });
  });

  test('names of the file and of overrides are nobody else’s', () => {
    const { registry } = createRegistryRig(
      { 'my server': baseDefinition },
      { overrides: [{ tenant: 'acme', name: 'the tool', definition: { surprise: true } }] },
    );
    for (const [tenant, name, reserved] of [
      ['default', 'my server', true],
      ['default', 'my_server', true],
      ['acme', 'the_tool', true],
      ['default', 'the_tool', false],
      ['acme', 'other', false],
    ] as const)
      expect([tenant, name, registry.isReserved(tenant, name)]).toEqual([tenant, name, reserved]);
  });

  test('an override is judged as a whole before it counts', () => {
    const { registry } = createRegistryRig({
      one: baseDefinition,
      process: { command: 'node' },
      'my server': baseDefinition,
    });
    const tried = (name: string, definition: unknown) =>
      registry.previewOverride({ tenant: 'acme', name, definition });
    expect(tried('one', { obo: { scopes: 's' } })).toMatchObject({
      definition: { ...baseDefinition, obo: { scopes: 's' } },
      compiled: { ok: true },
    });
    for (const [name, definition] of [
      ['one', { surprise: true }],
      ['one', { auth: 'required' }],
      ['process', { command: null, ...baseDefinition }],
      ['my_server', baseDefinition],
      ['new', { command: 'sh' }],
      ['new', { title: 'No address' }],
    ] as const)
      expect([name, definition, tried(name, definition).compiled.ok]).toEqual([name, definition, false]);
    expect(registry.list('acme').every(({ source }) => source === 'yaml')).toBe(true);
  });
});
