// SPDX-License-Identifier: GPL-2.0-only
/*
 * The page has its facts as text. When the timeline is asked for, the viewer is started. It takes
 * a profile from a script if the address says so, which is why the address does for a moment.
 */
"use strict";

const PATIENCE = 20000;
let viewer = null;

function textOf(id) {
	return document.getElementById(id).textContent.trim();
}

function decoded(id) {
	const bytes = Uint8Array.from(atob(textOf(id)), (c) => c.charCodeAt(0));
	return new TextDecoder().decode(bytes);
}

function add(kind, text) {
	const element = document.createElement(kind);
	element.textContent = text;
	document.head.append(element);
}

/* Calls start() as soon as the viewer can take the timeline. */
function whenReady(start) {
	const begin = Date.now();
	const timer = setInterval(() => {
		const ready = window.speedscope && window.speedscope.loadFileFromBase64;
		if (!ready && Date.now() - begin < PATIENCE)
			return;
		clearInterval(timer);
		if (ready)
			start();
		else
			document.getElementById("trouble").hidden = false;
	}, 50);
}

function startViewer() {
	const address = location.href.split("#")[0];
	history.replaceState(null, "", address + "#localProfilePath=timeline");
	add("style", decoded("viewer-style"));
	add("script", decoded("viewer-script"));
	whenReady(() => {
		history.replaceState(null, "", address);
		window.speedscope.loadFileFromBase64(document.title, textOf("timeline"));
	});
}

function show(timeline) {
	viewer = viewer || (timeline ? startViewer() || true : null);
	document.getElementById("facts").hidden = timeline;
	document.getElementById("back").hidden = !timeline;
}

/* The viewer has the body for itself. */
document.documentElement.append(...document.body.children);
document.getElementById("open").addEventListener("click", () => show(true));
document.getElementById("back").addEventListener("click", () => show(false));
if (location.hash === "#timeline")
	show(true);
