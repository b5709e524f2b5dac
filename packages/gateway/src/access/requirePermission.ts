import type { McpPermission } from '@behalf/contracts';
import type { Principal } from '../principal/principal.ts';

/** Throws unless the caller's role has the permission. */
export type RequirePermission = (principal: Principal, permission: McpPermission) => void;
