import { describe, expect, test } from '@jest/globals';
import { InterfaceMcpServers } from '../config/config.ts';
import {
  aclBits,
  aclRoles,
  hasAclBit,
  mcpPermissions,
  readExplicitPermissions,
  roleDefaults,
} from './permissions.ts';

describe('permissions', () => {
  test('ADMIN has every bit, USER only USE', () => {
    expect(mcpPermissions.filter((bit) => roleDefaults.ADMIN[bit])).toEqual([...mcpPermissions]);
    expect(mcpPermissions.filter((bit) => roleDefaults.USER[bit])).toEqual(['USE']);
  });

  test('only what the file names is applied, to USER; ADMIN by its own key', () => {
    const parse = (value: unknown) => readExplicitPermissions(InterfaceMcpServers.parse(value));
    expect(parse({})).toEqual({ ADMIN: {}, USER: {} });
    expect(parse({ configureObo: false, create: true })).toEqual({
      ADMIN: {},
      USER: { CREATE: true, CONFIGURE_OBO: false },
    });
    expect(parse({ public: true, admin: { configureObo: false } })).toEqual({
      ADMIN: { CONFIGURE_OBO: false },
      USER: { SHARE_PUBLIC: true },
    });
    expect(readExplicitPermissions(undefined)).toEqual({ ADMIN: {}, USER: {} });
  });

  test('bits and named sets of bits', () => {
    expect(aclRoles.mcpServer_owner).toBe(Object.values(aclBits).reduce((sum, bit) => sum + bit, 0));
    expect([
      hasAclBit(aclRoles.mcpServer_editor, 'EDIT'),
      hasAclBit(aclRoles.mcpServer_viewer, 'EDIT'),
      hasAclBit(aclRoles.mcpServer_editor, 'SHARE'),
    ]).toEqual([true, false, false]);
  });
});
