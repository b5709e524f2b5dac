import { useCallback, useEffect, useRef, useState, type RefObject } from 'react';
import { followsEnd } from './followEnd.ts';

export interface FollowEnd {
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly content: RefObject<HTMLDivElement | null>;
  readonly isFollowing: boolean;
  readonly follow: () => void;
}

/** With what a reader scrolls. Browsers do it little by little: going to the end meanwhile would take it back. */
const moves = ['wheel', 'touchmove', 'keydown'];
const HOLD_MS = 300;

/** Keeps the end of what grows in view, unless the reader went up to read. What is not active begins at its top. */
export function useFollowEnd(isActive: boolean): FollowEnd {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const following = useRef(true);
  const [isFollowing, setFollowing] = useState(true);

  useEffect(() => {
    const element = scroller.current;
    const inner = content.current;
    if (!isActive || !element || !inner) return undefined;
    let before = 0;
    let held: ReturnType<typeof setTimeout> | undefined;
    const toEnd = () => {
      if (!following.current || held !== undefined) return;
      element.scrollTop = element.scrollHeight;
      before = element.scrollTop;
    };
    const hold = () => {
      clearTimeout(held);
      held = setTimeout(() => {
        held = undefined;
        // What came meanwhile.
        toEnd();
      }, HOLD_MS);
    };
    const onScroll = () => {
      const { scrollTop: top, scrollHeight: height, clientHeight: view } = element;
      following.current = followsEnd(following.current, before, { top, height, view });
      before = top;
      setFollowing(following.current);
    };
    // Called once at the beginning, too. What is below the conversation can grow as well, and take room from it.
    const observer = new ResizeObserver(toEnd);
    observer.observe(inner);
    observer.observe(element);
    element.addEventListener('scroll', onScroll, { passive: true });
    for (const event of moves) element.addEventListener(event, hold, { passive: true });
    return () => {
      clearTimeout(held);
      observer.disconnect();
      element.removeEventListener('scroll', onScroll);
      for (const event of moves) element.removeEventListener(event, hold);
    };
  }, [isActive]);

  const follow = useCallback(() => {
    following.current = true;
    setFollowing(true);
    const element = scroller.current;
    if (element) element.scrollTop = element.scrollHeight;
  }, []);

  return { scroller, content, isFollowing, follow };
}
