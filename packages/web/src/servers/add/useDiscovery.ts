import type { DiscoverToolsView } from '@behalf/contracts';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { ApiError } from '../../api/apiError.ts';
import { discoverTools, type LookAuth, type LookedAt } from '../../api/discover.ts';
import { cancelFlow } from '../../api/flows.ts';
import { useStore } from '../../app/store.ts';
import type { Connecting } from '../../connect/connecting.ts';
import { connectingBy } from '../../connect/pageConnects.ts';
import type { Connect } from '../../connect/useConnect.ts';
import { forgetDiscovery, keepDiscovery, readDiscovery } from './keptDiscovery.ts';

/** Where a sign-in comes back to that had to leave the page. */
const RETURN_TO = '/servers?add=1';

/** A server that nobody saved is called so while somebody signs in at it. */
const draftName = (draftId: string) => `draft~${draftId}`;

/** What was found, and with what it was asked for. */
export interface Look {
  readonly auth: LookAuth;
  readonly view: DiscoverToolsView;
}

type Offer = Extract<DiscoverToolsView, { outcome: 'authorization_required' }>;

/** Looks at a server that nobody saved, signs in at it where it wants that, and looks again. */
export function useDiscovery() {
  const [kept] = useState(() => readDiscovery());
  const [endpoint, setEndpoint] = useState<LookedAt>(kept ?? { url: '', type: 'streamable-http' });
  const [result, setResult] = useState<Look | undefined>();
  const [connecting, setConnecting] = useState(nothingUnderWay);
  const state = useStore(connecting.state);
  const asking = useMutation({
    mutationFn: (auth: LookAuth) => discoverTools(endpoint, auth, RETURN_TO),
    onSuccess: (view, auth) => show(auth, view),
  });

  function show(auth: LookAuth, view: DiscoverToolsView): void {
    setResult({ auth, view });
    if (view.outcome === 'authorization_required') setConnecting(signInBy(view));
  }

  /** The sign-in that was offered; one that is begun again is asked for anew. */
  function signInBy(offer: Offer): Connecting {
    const { draftId } = offer;
    const auth = { type: 'draft', draftId } as const;
    let unused: Offer | undefined = offer;
    return connectingBy({
      start: async () => {
        const view = unused ?? (await discoverTools(endpoint, auth, RETURN_TO));
        unused = undefined;
        if (view.outcome === 'authorization_required') {
          return { ...view, expiresAt: view.flowExpiresAt, label: 'default' };
        }
        setResult({ auth, view });
        throw new ApiError({ code: 'UNREADABLE', status: 0, title: '', detail: '' });
      },
      cancel: () => cancelFlow(draftName(draftId)),
      onConnected: () => asking.mutate(auth),
    });
  }

  // Who signed in in this window goes on where they left.
  const isBack = useRef(kept !== undefined);
  const { mutate } = asking;
  useEffect(() => {
    if (isBack.current && kept) mutate({ type: 'draft', draftId: kept.draftId });
    isBack.current = false;
    forgetDiscovery();
  }, [kept, mutate]);

  const { state: _store, ...actions } = connecting;
  const connect: Connect = { ...actions, state };
  const draftId = result && 'draftId' in result.view ? result.view.draftId : undefined;
  return {
    endpoint,
    result,
    connect,
    isAsking: asking.isPending,
    error: asking.error,
    /** Another address is another server: whatever was found is not about it. */
    change(next: LookedAt) {
      connecting.cancel();
      asking.reset();
      setConnecting(nothingUnderWay);
      setResult(undefined);
      setEndpoint(next);
    },
    ask: (auth: LookAuth) => asking.mutate(auth),
    /** In a click. What the server has against the new sign-in is asked of it: the window says no more than that. */
    signIn: async () => {
      if (draftId === undefined || (await connecting.begin())) return;
      const ended = connecting.state.get();
      const isRefused = ended.kind === 'failed' && ended.error === 'probe_refused';
      if (isRefused) asking.mutate({ type: 'draft', draftId });
    },
    leave: () => draftId !== undefined && keepDiscovery({ ...endpoint, draftId }),
    stop: () => connecting.cancel(),
  };
}

export type Discovery = ReturnType<typeof useDiscovery>;

/** Before a sign-in is offered there is none. */
function nothingUnderWay(): Connecting {
  return connectingBy({
    start: () => Promise.reject(new ApiError({ code: 'UNREADABLE', status: 0, title: '', detail: '' })),
    cancel: () => Promise.resolve(),
    onConnected: () => undefined,
  });
}
