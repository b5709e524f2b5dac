import { mcpPermissions } from '@behalf/contracts/plain';
import { useEffect, useRef } from 'react';
import { useUser } from '../api/user.ts';
import { strings } from '../strings/strings.ts';
import { showToast } from '../ui/toasts.ts';

/** Says once that rights were taken away while the page is open: buttons that vanish without a word look like a fault. */
export function useLostBits(bits: number | undefined): void {
  const known = useRef<number | undefined>(undefined);
  useEffect(() => {
    if (bits === undefined) return;
    const lost = (known.current ?? bits) & ~bits;
    known.current = bits;
    if (lost !== 0) showToast('warning', strings.shell.rightsChanged);
  }, [bits]);
}

/** The same of what the role of who is signed in allows. */
export function useLostPermissions(): void {
  const held = useUser()?.permissions.MCP_SERVERS;
  useLostBits(
    held && mcpPermissions.reduce((bits, permission, index) => bits | (held[permission] ? 1 << index : 0), 0),
  );
}
