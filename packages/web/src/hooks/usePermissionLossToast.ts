import { mcpPermissions } from '@behalf/contracts/plain';
import { useEffect, useRef } from 'react';
import { useUser } from '../api/user.ts';
import { strings } from '../strings/strings.ts';
import { showToast } from '../ui/Toasts.tsx';

/** Shows a toast when permissions are lost: buttons that disappear silently look like a bug. */
export function usePermissionLossToast(bits: number | undefined): void {
  const previousBits = useRef<number | undefined>(undefined);
  useEffect(() => {
    if (bits === undefined) return;
    const lost = (previousBits.current ?? bits) & ~bits;
    previousBits.current = bits;
    if (lost !== 0) showToast('warning', strings.shell.permissionsChanged);
  }, [bits]);
}

/** Shows the toast when the role of the signed-in user loses permissions. */
export function useRolePermissionLossToast(): void {
  const permissions = useUser()?.permissions.MCP_SERVERS;
  usePermissionLossToast(
    permissions &&
      mcpPermissions.reduce(
        (bits, permission, index) => bits | (permissions[permission] ? 1 << index : 0),
        0,
      ),
  );
}
