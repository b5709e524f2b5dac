import type { SharingView } from '@behalf/contracts';
import { describe, expect, test } from '@jest/globals';
import {
  addPrincipal,
  getGrantableRoles,
  hasSharingChanges,
  reducesOwnAccess,
  removePrincipal,
  setPrincipalRole,
  toPrincipalOptions,
  toShareDraft,
  toShareRequest,
} from './shareDraft.ts';

const ada = { type: 'user', id: 'ada', name: 'Ada', accessRoleId: 'mcpServer_owner' } as const;
const team = { type: 'group', id: 'team', name: 'team', accessRoleId: 'mcpServer_viewer' } as const;
const before: SharingView = { principals: [ada, team], public: false };

describe('sharing a server', () => {
  test('only what was changed is sent', () => {
    const same = toShareDraft(before);
    expect(toShareRequest(before, same)).toEqual({ updated: [], removed: [], public: false });
    expect(hasSharingChanges(before, same)).toBe(false);
    const found = { type: 'user', id: 'eve', name: 'Eve', email: 'eve@example.com' } as const;
    const next = setPrincipalRole(
      removePrincipal(addPrincipal(same, found), team),
      found,
      'mcpServer_editor',
    );
    expect(toShareRequest(before, next)).toEqual({
      updated: [{ type: 'user', id: 'eve', accessRoleId: 'mcpServer_editor' }],
      removed: [{ type: 'group', id: 'team' }],
      public: false,
    });
    expect(addPrincipal(same, ada)).toBe(same);
    expect(hasSharingChanges(before, next)).toBe(true);
  });

  test('what is public is meant with every request', () => {
    const open: SharingView = { ...before, public: true, publicAccessRoleId: 'mcpServer_editor' };
    expect(toShareRequest(open, toShareDraft(open))).toMatchObject({
      public: true,
      publicAccessRoleId: 'mcpServer_editor',
    });
    const closed = { ...toShareDraft(open), isPublic: false };
    expect(toShareRequest(open, closed)).toEqual({ updated: [], removed: [], public: false });
    expect(hasSharingChanges(open, closed)).toBe(true);
    expect(hasSharingChanges(open, { ...toShareDraft(open), publicRole: 'mcpServer_viewer' })).toBe(true);
    expect(hasSharingChanges(before, { ...toShareDraft(before), publicRole: 'mcpServer_owner' })).toBe(false);
  });

  test('nobody is offered more than they have, and is warned of losing it', () => {
    expect(getGrantableRoles(15)).toEqual(['mcpServer_viewer', 'mcpServer_editor', 'mcpServer_owner']);
    expect(getGrantableRoles(1 | 8)).toEqual(['mcpServer_viewer']);
    const draft = toShareDraft(before);
    expect(reducesOwnAccess(before, draft, 'ada')).toBe(false);
    expect(reducesOwnAccess(before, setPrincipalRole(draft, ada, 'mcpServer_editor'), 'ada')).toBe(true);
    expect(reducesOwnAccess(before, removePrincipal(draft, ada), 'ada')).toBe(true);
    expect(reducesOwnAccess(before, removePrincipal(draft, ada), 'eve')).toBe(false);
  });

  test('the role of everybody is offered to who may make it public', () => {
    const user = { type: 'role', id: 'USER', name: 'USER', source: 'local' } as const;
    const isAlreadyAdded = ({ id }: { readonly id: string }) => id === 'ada';
    const ids = (canSharePublicly: boolean) =>
      toPrincipalOptions([user, { ...ada, source: 'local' }], 'us', { isAlreadyAdded, canSharePublicly }).map(
        ({ id }) => id,
      );
    expect([ids(true), ids(false)]).toEqual([['USER', 'us'], ['us']]);
    const own = { type: 'group', id: 'us', name: 'us', source: 'local' } as const;
    expect(toPrincipalOptions([own], 'us', { isAlreadyAdded, canSharePublicly: true })).toEqual([own]);
  });
});
