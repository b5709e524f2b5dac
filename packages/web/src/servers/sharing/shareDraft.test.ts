import type { SharingView } from '@behalf/contracts';
import { describe, expect, test } from '@jest/globals';
import { optionsOf } from './principalOptions.ts';
import {
  changesSharing,
  draftOf,
  losesOwn,
  rolesWithin,
  shareRequest,
  without,
  withPrincipal,
  withRole,
} from './shareDraft.ts';

const ada = { type: 'user', id: 'ada', name: 'Ada', accessRoleId: 'mcpServer_owner' } as const;
const team = { type: 'group', id: 'team', name: 'team', accessRoleId: 'mcpServer_viewer' } as const;
const before: SharingView = { principals: [ada, team], public: false };

describe('sharing a server', () => {
  test('only what was changed is sent', () => {
    const same = draftOf(before);
    expect(shareRequest(before, same)).toEqual({ updated: [], removed: [], public: false });
    expect(changesSharing(before, same)).toBe(false);
    const found = { type: 'user', id: 'eve', name: 'Eve', email: 'eve@example.com' } as const;
    const next = withRole(without(withPrincipal(same, found), team), found, 'mcpServer_editor');
    expect(shareRequest(before, next)).toEqual({
      updated: [{ type: 'user', id: 'eve', accessRoleId: 'mcpServer_editor' }],
      removed: [{ type: 'group', id: 'team' }],
      public: false,
    });
    expect(withPrincipal(same, ada)).toBe(same);
    expect(changesSharing(before, next)).toBe(true);
  });

  test('what is public is meant with every request', () => {
    const open: SharingView = { ...before, public: true, publicAccessRoleId: 'mcpServer_editor' };
    expect(shareRequest(open, draftOf(open))).toMatchObject({
      public: true,
      publicAccessRoleId: 'mcpServer_editor',
    });
    const closed = { ...draftOf(open), isPublic: false };
    expect(shareRequest(open, closed)).toEqual({ updated: [], removed: [], public: false });
    expect(changesSharing(open, closed)).toBe(true);
    expect(changesSharing(open, { ...draftOf(open), publicRole: 'mcpServer_viewer' })).toBe(true);
    expect(changesSharing(before, { ...draftOf(before), publicRole: 'mcpServer_owner' })).toBe(false);
  });

  test('nobody is offered more than they have, and is warned of losing it', () => {
    expect(rolesWithin(15)).toEqual(['mcpServer_viewer', 'mcpServer_editor', 'mcpServer_owner']);
    expect(rolesWithin(1 | 8)).toEqual(['mcpServer_viewer']);
    const draft = draftOf(before);
    expect(losesOwn(before, draft, 'ada')).toBe(false);
    expect(losesOwn(before, withRole(draft, ada, 'mcpServer_editor'), 'ada')).toBe(true);
    expect(losesOwn(before, without(draft, ada), 'ada')).toBe(true);
    expect(losesOwn(before, without(draft, ada), 'eve')).toBe(false);
  });

  test('the role of everybody is offered to who may make it public', () => {
    const user = { type: 'role', id: 'USER', name: 'USER', source: 'local' } as const;
    const isTaken = ({ id }: { readonly id: string }) => id === 'ada';
    const ids = (mayPublic: boolean) =>
      optionsOf([user, { ...ada, source: 'local' }], 'us', { isTaken, mayPublic }).map(({ id }) => id);
    expect([ids(true), ids(false)]).toEqual([['USER', 'us'], ['us']]);
    const own = { type: 'group', id: 'us', name: 'us', source: 'local' } as const;
    expect(optionsOf([own], 'us', { isTaken, mayPublic: true })).toEqual([own]);
  });
});
