import type { ErrorCode } from '@behalf/contracts';
import type { SavedKindName } from '../access/acl.ts';

/** What people save and share: what each is called, and in which words it is refused. The rest is the same for all. */
export interface SavedKind {
  readonly name: SavedKindName;
  readonly notFound: ErrorCode;
  readonly forbidden: ErrorCode;
  readonly full: ErrorCode;
}

export const blockKind: SavedKind = {
  name: 'block',
  notFound: 'BLOCK_NOT_FOUND',
  forbidden: 'BLOCK_FORBIDDEN',
  full: 'BLOCK_LIMIT',
};

export const setKind: SavedKind = {
  name: 'set',
  notFound: 'SET_NOT_FOUND',
  forbidden: 'SET_FORBIDDEN',
  full: 'SET_LIMIT',
};
