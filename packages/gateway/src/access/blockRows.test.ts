import { verifies } from '@behalf/testkit';
import { describe, expect } from '@jest/globals';
import { createAccessRig, userRecord } from '../../test/accessRig.ts';
import { define } from '../../test/toolcallRig.ts';
import { principalOf } from '../principal/principal.ts';
import { blockResource } from './acl.ts';

const ada = principalOf(userRecord('ada', 0), { via: 'bearer' });
const bob = principalOf(userRecord('bob', 0), { via: 'bearer' });
const elsewhere = { ...ada, tenant: 'other' };

describe('rows of blocks', () => {
  verifies(
    'blocks.access.no-server',
    'give nothing of a server of the same id, and the other way',
    async () => {
      const { acl, ready } = createAccessRig().gateway();
      await ready;
      const server = define('one', {}, { source: 'user', author: 'ada' });
      await acl.grantOwner({ tenant: 'default', id: 'one' }, 'ada');
      expect([acl.bitsOf(ada, server), acl.blockBits(ada, 'one')]).toEqual([15, 0]);
      expect(acl.blocksOf(ada)).toEqual(new Map());
      await acl.grantOwner({ tenant: 'default', id: blockResource('one') }, 'bob');
      expect([acl.bitsOf(bob, server), acl.blockBits(bob, 'one')]).toEqual([0, 15]);
      expect(acl.blockBits(ada, 'one')).toBe(0);
      expect([acl.blocksOf(bob), acl.blocksOf(elsewhere)]).toEqual([new Map([['one', 15]]), new Map()]);
      // What goes with the server leaves the block alone.
      await acl.removeServer('default', 'one');
      expect([acl.bitsOf(ada, server), acl.blockBits(bob, 'one')]).toEqual([0, 15]);
    },
  );
});
