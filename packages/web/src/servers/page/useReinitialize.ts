import type { ReinitializeView } from '@behalf/contracts';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { reinitializeServer, invalidateServers } from '../../api/servers.ts';

export interface Reinitialization {
  readonly isBusy: boolean;
  /** Of the definition that is shown: what came of an older one says nothing about this. */
  readonly outcome: ReinitializeView | undefined;
  readonly error: unknown;
  /** Whether it could not be reached when it was begun. */
  readonly wasUnreachable: boolean;
  readonly run: (wasUnreachable: boolean) => void;
  /** Something else was changed that it depended on. */
  readonly clear: () => void;
}

/** Brings the server up anew; however it ends, everything known about it may be different then. */
export function useReinitialize(name: string, version: number | undefined): Reinitialization {
  const queryClient = useQueryClient();
  const { mutate, reset, isPending, data, error, variables } = useMutation({
    mutationFn: (_variables: { readonly version: number | undefined; readonly wasUnreachable: boolean }) =>
      reinitializeServer(name),
    onSettled: () => invalidateServers(queryClient),
  });
  const isCurrent = variables?.version === version;
  return {
    isBusy: isPending,
    outcome: isCurrent ? data : undefined,
    error: isCurrent ? error : null,
    wasUnreachable: variables?.wasUnreachable ?? false,
    run: (wasUnreachable) => mutate({ version, wasUnreachable }),
    clear: reset,
  };
}
