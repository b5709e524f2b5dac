import { describe, expect, test } from '@jest/globals';
import { createAccessRig, userRecord } from '../../test/accessRig.ts';
import { defineServer } from '../../test/toolcallRig.ts';
import { toPrincipal } from '../principal/principal.ts';
import { toAclResourceId } from './acl.ts';

const ada = toPrincipal(userRecord('ada', 0), { via: 'bearer' });
const bob = toPrincipal(userRecord('bob', 0), { via: 'bearer' });
const otherTenant = { ...ada, tenant: 'other' };

describe('rows of blocks', () => {
  test('give nothing of a server of the same id, and the other way', async () => {
    const { acl, ready } = createAccessRig().gateway();
    await ready;
    const server = defineServer('one', {}, { source: 'user', author: 'ada' });
    await acl.grantOwner({ tenant: 'default', id: 'one' }, 'ada');
    expect([acl.getUseBits(ada, server), acl.getSavedBits(ada, 'block', 'one')]).toEqual([15, 0]);
    expect(acl.listSavedBits(ada, 'block')).toEqual(new Map());
    await acl.grantOwner({ tenant: 'default', id: toAclResourceId('block', 'one') }, 'bob');
    expect([acl.getUseBits(bob, server), acl.getSavedBits(bob, 'block', 'one')]).toEqual([0, 15]);
    expect(acl.getSavedBits(ada, 'block', 'one')).toBe(0);
    expect([acl.listSavedBits(bob, 'block'), acl.listSavedBits(otherTenant, 'block')]).toEqual([
      new Map([['one', 15]]),
      new Map(),
    ]);
    // A set of the same id is another thing.
    expect([acl.getSavedBits(bob, 'set', 'one'), acl.listSavedBits(bob, 'set')]).toEqual([0, new Map()]);
    // What goes with the server leaves the block alone.
    await acl.removeServer('default', 'one');
    expect([acl.getUseBits(ada, server), acl.getSavedBits(bob, 'block', 'one')]).toEqual([0, 15]);
  });
});
