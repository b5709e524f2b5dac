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

/** The target of a sign-in that leaves the page. */
const RETURN_PATH = '/servers?add=1';

/** The name of an unsaved server during a sign-in. */
const draftName = (draftId: string) => `draft~${draftId}`;

/** The result of a discovery with its request. */
export interface DiscoveryResult {
  readonly auth: DiscoveryAuth;
  readonly view: DiscoverToolsView;
}

type Offer = Extract<DiscoverToolsView, { outcome: 'authorization_required' }>;

/** Discovers an unsaved server, signs in if required, and repeats the discovery. */
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

  /** Controls the offered sign-in. A restart requests a new offer. */
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

  // Continues after a sign-in in this window.
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
    /** Results belong to the previous URL and are dropped. */
    setNewEndpoint(newEndpoint: DiscoveryEndpoint) {
      controller.cancel();
      discoverMutation.reset();
      setController(createIdleController);
      setResult(undefined);
      setEndpoint(newEndpoint);
    },
    discover: (auth: DiscoveryAuth) => discoverMutation.mutate(auth),
    /**
     * Must run in a click handler. Afterwards the discovery runs again, because only the server knows whether it
     * accepts the sign-in.
     */
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

/** The controller before a sign-in is offered. */
function createIdleController(): ConnectController {
  return createPageConnectController({
    start: () => Promise.reject(new ApiError({ code: 'UNREADABLE', status: 0, title: '', detail: '' })),
    cancel: () => Promise.resolve(),
    onConnected: () => undefined,
  });
}
