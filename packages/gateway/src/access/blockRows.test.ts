import { describe, expect, test } from '@jest/globals';
import { createAccessRig, userRecord } from '../../test/accessRig.ts';
import { define } from '../../test/toolcallRig.ts';
import { toPrincipal } from '../principal/principal.ts';
import { savedResource } from './acl.ts';

const ada = toPrincipal(userRecord('ada', 0), { via: 'bearer' });
const bob = toPrincipal(userRecord('bob', 0), { via: 'bearer' });
const elsewhere = { ...ada, tenant: 'other' };

describe('rows of blocks', () => {
  test('give nothing of a server of the same id, and the other way', async () => {
    const { acl, ready } = createAccessRig().gateway();
    await ready;
    const server = define('one', {}, { source: 'user', author: 'ada' });
    await acl.grantOwner({ tenant: 'default', id: 'one' }, 'ada');
    expect([acl.bitsOf(ada, server), acl.savedBits(ada, 'block', 'one')]).toEqual([15, 0]);
    expect(acl.savedOf(ada, 'block')).toEqual(new Map());
    await acl.grantOwner({ tenant: 'default', id: savedResource('block', 'one') }, 'bob');
    expect([acl.bitsOf(bob, server), acl.savedBits(bob, 'block', 'one')]).toEqual([0, 15]);
    expect(acl.savedBits(ada, 'block', 'one')).toBe(0);
    expect([acl.savedOf(bob, 'block'), acl.savedOf(elsewhere, 'block')]).toEqual([
      new Map([['one', 15]]),
      new Map(),
    ]);
    // A set of the same id is another thing.
    expect([acl.savedBits(bob, 'set', 'one'), acl.savedOf(bob, 'set')]).toEqual([0, new Map()]);
    // What goes with the server leaves the block alone.
    await acl.removeServer('default', 'one');
    expect([acl.bitsOf(ada, server), acl.savedBits(bob, 'block', 'one')]).toEqual([0, 15]);
  });
});
