import { explicitPermissions, mcpPermissions, type McpPermission } from '@behalf/contracts';
import { verifies } from '@behalf/testkit';
import { describe, expect } from '@jest/globals';
import type { Principal } from '../principal/principal.ts';
import { createRolePermissions } from './rolePermissions.ts';

const as = (role: string): Principal => ({
  kind: 'user',
  userId: 'u',
  tenant: 'default',
  role,
  email: 'e',
  name: 'n',
});
const granted = (file: Parameters<typeof explicitPermissions>[0], role: string) => {
  const require = createRolePermissions(explicitPermissions(file));
  return mcpPermissions.filter((permission) => {
    try {
      require(as(role), permission);
      return true;
    } catch (error) {
      expect(error).toMatchObject({ code: 'MCP_FORBIDDEN' });
      return false;
    }
  });
};

describe('role permissions', () => {
  verifies('access.role.deny-by-default', 'a role nobody knows has nothing, whatever it is called', () => {
    const names = [
      '',
      'GUEST',
      'admin',
      'ADMIN ',
      'ＡＤＭＩＮ',
      '__proto__',
      'constructor',
      'toString',
      'hasOwnProperty',
    ];
    for (const role of names) expect([role, granted(undefined, role)]).toEqual([role, []]);
  });

  verifies(
    'access.role.deny-by-default',
    'a permission nobody knows is not granted, even to an administrator',
    () => {
      const require = createRolePermissions(explicitPermissions(undefined));
      for (const name of ['__proto__', 'constructor', 'toString', 'DELETE', '']) {
        expect(() => require(as('ADMIN'), name as McpPermission)).toThrow();
      }
    },
  );

  verifies('access.role.defaults', 'administrators have everything and users may use', () => {
    expect(granted(undefined, 'ADMIN')).toEqual([...mcpPermissions]);
    expect(granted(undefined, 'USER')).toEqual(['USE']);
  });

  verifies(
    'access.role.defaults',
    'the file names single bits, of users and, apart, of administrators',
    () => {
      expect(granted({ use: false }, 'USER')).toEqual([]);
      expect(granted({ use: false }, 'ADMIN')).toEqual([...mcpPermissions]);
      expect(granted({ create: true }, 'USER')).toEqual(['USE', 'CREATE']);
      expect(granted({ admin: { share: false } }, 'ADMIN')).not.toContain('SHARE');
    },
  );
});
