import type { DiscoverToolsView } from '@behalf/contracts';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { ApiError } from '../../api/request.ts';
import { discoverTools, type DiscoveryAuth, type DiscoveryEndpoint } from '../../api/servers.ts';
import { cancelFlow } from '../../api/credentials.ts';
import { useStore } from '../../app/store.ts';
import type { ConnectController } from '../../connect/connectController.ts';
import { type ConnectHandle, createPageConnectController } from '../../connect/pageConnectControllers.ts';
import { clearDiscovery, saveDiscovery, loadDiscovery } from './discoveryResult.ts';

/** Where a sign-in comes back to that had to leave the page. */
const RETURN_PATH = '/servers?add=1';

/** A server that nobody saved is called so while somebody signs in at it. */
const draftName = (draftId: string) => `draft~${draftId}`;

/** What was found, and with what it was asked for. */
export interface DiscoveryResult {
  readonly auth: DiscoveryAuth;
  readonly view: DiscoverToolsView;
}

type Offer = Extract<DiscoverToolsView, { outcome: 'authorization_required' }>;

/** Looks at a server that nobody saved, signs in at it where it wants that, and looks again. */
export function useDiscovery() {
  const [saved] = useState(() => loadDiscovery());
  const [endpoint, setEndpoint] = useState<DiscoveryEndpoint>(saved ?? { url: '', type: 'streamable-http' });
  const [result, setResult] = useState<DiscoveryResult | undefined>();
  const [controller, setController] = useState(createIdleController);
  const state = useStore(controller.state);
  const discoverMutation = useMutation({
    mutationFn: (auth: DiscoveryAuth) => discoverTools(endpoint, auth, RETURN_PATH),
    onSuccess: (view, auth) => showResult(auth, view),
  });

  function showResult(auth: DiscoveryAuth, view: DiscoverToolsView): void {
    setResult({ auth, view });
    if (view.outcome === 'authorization_required') setController(createOfferController(view));
  }

  /** The sign-in that was offered; one that is begun again is asked for anew. */
  function createOfferController(offer: Offer): ConnectController {
    const { draftId } = offer;
    const auth = { type: 'draft', draftId } as const;
    let unusedOffer: Offer | undefined = offer;
    return createPageConnectController({
      start: async () => {
        const view = unusedOffer ?? (await discoverTools(endpoint, auth, RETURN_PATH));
        unusedOffer = undefined;
        if (view.outcome === 'authorization_required') {
          return { ...view, expiresAt: view.flowExpiresAt, label: 'default' };
        }
        setResult({ auth, view });
        throw new ApiError({ code: 'UNREADABLE', status: 0, title: '', detail: '' });
      },
      cancel: () => cancelFlow(draftName(draftId)),
      onConnected: () => discoverMutation.mutate(auth),
    });
  }

  // Who signed in in this window goes on where they left.
  const isReturning = useRef(saved !== undefined);
  const { mutate } = discoverMutation;
  useEffect(() => {
    if (isReturning.current && saved) mutate({ type: 'draft', draftId: saved.draftId });
    isReturning.current = false;
    clearDiscovery();
  }, [saved, mutate]);

  const { state: _store, ...actions } = controller;
  const connect: ConnectHandle = { ...actions, state };
  const draftId = result && 'draftId' in result.view ? result.view.draftId : undefined;
  return {
    endpoint,
    result,
    connect,
    isDiscovering: discoverMutation.isPending,
    error: discoverMutation.error,
    /** Another address is another server: whatever was found is not about it. */
    setNewEndpoint(newEndpoint: DiscoveryEndpoint) {
      controller.cancel();
      discoverMutation.reset();
      setController(createIdleController);
      setResult(undefined);
      setEndpoint(newEndpoint);
    },
    discover: (auth: DiscoveryAuth) => discoverMutation.mutate(auth),
    /** In a click. What the server has against the new sign-in is asked of it: the window says no more than that. */
    signIn: async () => {
      if (draftId === undefined || (await controller.begin())) return;
      const finalState = controller.state.get();
      const isRejected = finalState.kind === 'failed' && finalState.error === 'probe_refused';
      if (isRejected) discoverMutation.mutate({ type: 'draft', draftId });
    },
    saveForReturn: () => draftId !== undefined && saveDiscovery({ ...endpoint, draftId }),
    cancel: () => controller.cancel(),
  };
}

export type DiscoveryState = ReturnType<typeof useDiscovery>;

/** Before a sign-in is offered there is none. */
function createIdleController(): ConnectController {
  return createPageConnectController({
    start: () => Promise.reject(new ApiError({ code: 'UNREADABLE', status: 0, title: '', detail: '' })),
    cancel: () => Promise.resolve(),
    onConnected: () => undefined,
  });
}
