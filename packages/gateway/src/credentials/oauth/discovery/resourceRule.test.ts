import { describe, expect, test } from '@jest/globals';
import { registryOf, stored } from '../../../../test/registryRig.ts';
import { signInTargetOf } from '../signInTarget.ts';
import { isResourceOf } from './resourceRule.ts';

const url = 'https://host.example/one/mcp';
const { registry } = registryOf(
  { theirs: { type: 'streamable-http', url, requiresOAuth: true } },
  { stored: [stored({ definition: { type: 'streamable-http', url } })] },
);

function targetOf(name: string) {
  const server = registry.find('default', name);
  const target = server && signInTargetOf(server, {});
  if (!target) throw new Error('no server');
  return target;
}

describe('what a grant was asked for', () => {
  test('all of an origin is asked for by the operator’s servers alone', () => {
    const asked = (name: string, sent: string) => isResourceOf({ kind: 'send' }, targetOf(name), sent);
    expect([asked('theirs', url), asked('mine', url)]).toEqual([true, true]);
    const origin = 'https://host.example';
    expect([asked('theirs', origin), asked('mine', origin)]).toEqual([true, false]);
    expect(asked('theirs', `${origin}/two/mcp`)).toBe(false);
  });
});
