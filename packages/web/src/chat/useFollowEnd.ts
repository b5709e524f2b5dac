import { type RefObject, useCallback, useEffect, useRef, useState } from 'react';

interface FollowEnd {
  readonly scrollerRef: RefObject<HTMLDivElement | null>;
  readonly contentRef: RefObject<HTMLDivElement | null>;
  readonly isFollowing: boolean;
  readonly scrollToEnd: () => void;
}

/** With what a reader scrolls. Browsers do it little by little: going to the end meanwhile would take it back. */
const SCROLL_EVENTS = ['wheel', 'touchmove', 'keydown'];
const HOLD_MS = 300;

/** Keeps the end of what grows in view, unless the reader went up to read. What is not active begins at its top. */
export function useFollowEnd(isActive: boolean): FollowEnd {
  const scrollerRef = useRef<HTMLDivElement>(null);
  const contentRef = useRef<HTMLDivElement>(null);
  const followingRef = useRef(true);
  const [isFollowing, setFollowing] = useState(true);

  useEffect(() => {
    const scrollerElement = scrollerRef.current;
    const contentElement = contentRef.current;
    if (!isActive || !scrollerElement || !contentElement) return undefined;
    let previousTop = 0;
    let holdTimer: ReturnType<typeof setTimeout> | undefined;
    const jumpToEnd = () => {
      if (!followingRef.current || holdTimer !== undefined) return;
      scrollerElement.scrollTop = scrollerElement.scrollHeight;
      previousTop = scrollerElement.scrollTop;
    };
    const hold = () => {
      clearTimeout(holdTimer);
      holdTimer = setTimeout(() => {
        holdTimer = undefined;
        // What came meanwhile.
        jumpToEnd();
      }, HOLD_MS);
    };
    const handleScroll = () => {
      const { scrollTop: top, scrollHeight: height, clientHeight: viewport } = scrollerElement;
      followingRef.current = shouldFollowEnd(followingRef.current, previousTop, { top, height, viewport });
      previousTop = top;
      setFollowing(followingRef.current);
    };
    // Called once at the beginning, too. What is below the conversation can grow as well, and take room from it.
    const observer = new ResizeObserver(jumpToEnd);
    observer.observe(contentElement);
    observer.observe(scrollerElement);
    scrollerElement.addEventListener('scroll', handleScroll, { passive: true });
    for (const event of SCROLL_EVENTS) scrollerElement.addEventListener(event, hold, { passive: true });
    return () => {
      clearTimeout(holdTimer);
      observer.disconnect();
      scrollerElement.removeEventListener('scroll', handleScroll);
      for (const event of SCROLL_EVENTS) scrollerElement.removeEventListener(event, hold);
    };
  }, [isActive]);

  const scrollToEnd = useCallback(() => {
    followingRef.current = true;
    setFollowing(true);
    const scrollerElement = scrollerRef.current;
    if (scrollerElement) scrollerElement.scrollTop = scrollerElement.scrollHeight;
  }, []);

  return { scrollerRef, contentRef, isFollowing, scrollToEnd };
}

interface ScrollPosition {
  readonly top: number;
  /** All there is, and what of it is seen at once. */
  readonly height: number;
  readonly viewport: number;
}

/** So near to the end that it counts as there: browsers scroll by fractions of pixels. */
const NEAR_END_PX = 8;

/**
 * Whether the reader follows the end, after the page was scrolled: who scrolled up, by however little, wants to read
 * there; who came back down follows again.
 */
export function shouldFollowEnd(
  isFollowing: boolean,
  previousTop: number,
  position: ScrollPosition,
): boolean {
  const distanceToEnd = position.height - position.viewport - position.top;
  if (distanceToEnd <= NEAR_END_PX) return true;
  return isFollowing && position.top >= previousTop;
}
