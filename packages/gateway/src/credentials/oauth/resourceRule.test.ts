import { describe, expect, test } from '@jest/globals';
import { createRegistryRig, createStoredDefinition } from '../../../test/registryRig.ts';
import { isCurrentResource } from './scopes.ts';
import { toSignInTarget } from './signInTarget.ts';

const url = 'https://host.example/one/mcp';
const { registry } = createRegistryRig(
  { theirs: { type: 'streamable-http', url, requiresOAuth: true } },
  { stored: [createStoredDefinition({ definition: { type: 'streamable-http', url } })] },
);

function targetOf(name: string) {
  const server = registry.find('default', name);
  const target = server && toSignInTarget(server, {});
  if (!target) throw new Error('no server');
  return target;
}

describe('what a grant was asked for', () => {
  test('all of an origin is asked for by the operator’s servers alone', () => {
    const isCurrent = (name: string, sent: string) =>
      isCurrentResource({ kind: 'send' }, targetOf(name), sent);
    expect([isCurrent('theirs', url), isCurrent('mine', url)]).toEqual([true, true]);
    const origin = 'https://host.example';
    expect([isCurrent('theirs', origin), isCurrent('mine', origin)]).toEqual([true, false]);
    expect(isCurrent('theirs', `${origin}/two/mcp`)).toBe(false);
  });
});
