import type { ReinitializeView } from '@behalf/contracts';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { reinitialize, serversChanged } from '../../api/servers.ts';

export interface Reinit {
  readonly isBusy: boolean;
  /** Of the definition that is shown: what came of an older one says nothing about this. */
  readonly outcome: ReinitializeView | undefined;
  readonly error: unknown;
  /** Whether it could not be reached when it was begun. */
  readonly wasUnreachable: boolean;
  readonly run: (wasUnreachable: boolean) => void;
  /** Something else was changed that it depended on. */
  readonly forget: () => void;
}

/** Brings the server up anew; however it ends, everything known about it may be different then. */
export function useReinitialize(name: string, version: number | undefined): Reinit {
  const client = useQueryClient();
  const { mutate, reset, isPending, data, error, variables } = useMutation({
    mutationFn: (_begun: { readonly version: number | undefined; readonly wasUnreachable: boolean }) =>
      reinitialize(name),
    onSettled: () => serversChanged(client),
  });
  const isCurrent = variables?.version === version;
  return {
    isBusy: isPending,
    outcome: isCurrent ? data : undefined,
    error: isCurrent ? error : null,
    wasUnreachable: variables?.wasUnreachable ?? false,
    run: (wasUnreachable) => mutate({ version, wasUnreachable }),
    forget: reset,
  };
}
