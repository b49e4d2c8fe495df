#define rand	pan_rand
#define pthread_equal(a,b)	((a)==(b))
#if defined(HAS_CODE) && defined(VERBOSE)
	#ifdef BFS_PAR
		bfs_printf("Pr: %d Tr: %d\n", II, t->forw);
	#else
		cpu_printf("Pr: %d Tr: %d\n", II, t->forw);
	#endif
#endif
	switch (t->forw) {
	default: Uerror("bad forward move");
	case 0:	/* if without executable clauses */
		continue;
	case 1: /* generic 'goto' or 'skip' */
		IfNotBlocked
		_m = 3; goto P999;
	case 2: /* generic 'else' */
		IfNotBlocked
		if (trpt->o_pm&1) continue;
		_m = 3; goto P999;

		 /* PROC :init: */
	case 3: // STATE 1 - /work/wt/db4/tests/models/database.pml:524 - [n = 0] (0:0:1 - 0)
		IfNotBlocked
		reached[4][1] = 1;
		(trpt+1)->bup.oval = ((int)((P4 *)_this)->_10_21_n);
		((P4 *)_this)->_10_21_n = 0;
#ifdef VAR_RANGES
		logval(":init::n", ((int)((P4 *)_this)->_10_21_n));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 4: // STATE 2 - /work/wt/db4/tests/models/database.pml:525 - [((n<2))] (0:0:0 - 0)
		IfNotBlocked
		reached[4][2] = 1;
		if (!((((int)((P4 *)_this)->_10_21_n)<2)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 5: // STATE 3 - /work/wt/db4/tests/models/database.pml:525 - [(run Session(n))] (0:0:0 - 0)
		IfNotBlocked
		reached[4][3] = 1;
		if (!(addproc(II, 1, 0, ((int)((P4 *)_this)->_10_21_n))))
			continue;
		_m = 3; goto P999; /* 0 */
	case 6: // STATE 4 - /work/wt/db4/tests/models/database.pml:525 - [(run Process(n))] (0:0:0 - 0)
		IfNotBlocked
		reached[4][4] = 1;
		if (!(addproc(II, 1, 1, ((int)((P4 *)_this)->_10_21_n))))
			continue;
		_m = 3; goto P999; /* 0 */
	case 7: // STATE 5 - /work/wt/db4/tests/models/database.pml:525 - [n = (n+1)] (0:0:1 - 0)
		IfNotBlocked
		reached[4][5] = 1;
		(trpt+1)->bup.oval = ((int)((P4 *)_this)->_10_21_n);
		((P4 *)_this)->_10_21_n = (((int)((P4 *)_this)->_10_21_n)+1);
#ifdef VAR_RANGES
		logval(":init::n", ((int)((P4 *)_this)->_10_21_n));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 8: // STATE 11 - /work/wt/db4/tests/models/database.pml:528 - [(run Clock())] (0:0:0 - 0)
		IfNotBlocked
		reached[4][11] = 1;
		if (!(addproc(II, 1, 2, 0)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 9: // STATE 12 - /work/wt/db4/tests/models/database.pml:529 - [(run World())] (0:0:0 - 0)
		IfNotBlocked
		reached[4][12] = 1;
		if (!(addproc(II, 1, 3, 0)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 10: // STATE 14 - /work/wt/db4/tests/models/database.pml:531 - [-end-] (0:0:0 - 0)
		IfNotBlocked
		reached[4][14] = 1;
		if (!delproc(1, II)) continue;
		_m = 3; goto P999; /* 0 */

		 /* PROC World */
	case 11: // STATE 29 - /work/wt/db4/tests/models/database.pml:484 - [D_STEP484]
		if (!(boq == -1 && (((int)now.losses)>0)))
			continue;

		reached[3][29] = 1;
		reached[3][t->st] = 1;
		reached[3][tt] = 1;

		if (TstOnly) return 1;

		sv_save();
		S_274_0: /* 2 */
		if (!((((int)now.losses)>0)))
			Uerror("block in d_step seq");
S_275_0: /* 2 */
		now.losses = (((int)now.losses)-1);
#ifdef VAR_RANGES
		logval("losses", ((int)now.losses));
#endif
		;
S_285_0: /* 2 */
S_276_0: /* 2 */
		k = 0;
#ifdef VAR_RANGES
		logval("k", ((int)k));
#endif
		;
S_283_0: /* 2 */
S_282_0: /* 2 */
S_277_0: /* 2 */
		if (!((((int)k)<2)))
			goto S_282_1;
S_278_0: /* 2 */
		now.client[ Index(k, 2) ].tx = 14;
#ifdef VAR_RANGES
		logval("client[k].tx", now.client[ Index(((int)k), 2) ].tx);
#endif
		;
S_279_0: /* 2 */
		k = (((int)k)+1);
#ifdef VAR_RANGES
		logval("k", ((int)k));
#endif
		;
		goto S_283_0; /* ';' */
S_282_1: /* 3 */
S_280_0: /* 2 */
		/* else */;
S_281_0: /* 2 */
		goto S_300_0;	/* 'goto' */
S_282_2: /* 3 */
		Uerror("blocking sel in d_step (nr.0, near line 429)");
S_284_0: /* 2 */
		goto S_300_0;	/* 'break' */
		goto S_300_0;
S_300_0: /* 2 */
S_286_0: /* 2 */
		now.now_has.owner = 255;
#ifdef VAR_RANGES
		logval("now_has.owner", ((int)now.now_has.owner));
#endif
		;
S_287_0: /* 2 */
		now.now_has.left = 0;
#ifdef VAR_RANGES
		logval("now_has.left", ((int)now.now_has.left));
#endif
		;
S_288_0: /* 2 */
		now.now_has.fence = 0;
#ifdef VAR_RANGES
		logval("now_has.fence", ((int)now.now_has.fence));
#endif
		;
S_289_0: /* 2 */
		now.now_has.grant = 0;
#ifdef VAR_RANGES
		logval("now_has.grant", ((int)now.now_has.grant));
#endif
		;
S_290_0: /* 2 */
		k = 0;
#ifdef VAR_RANGES
		logval("k", ((int)k));
#endif
		;
S_297_0: /* 2 */
S_296_0: /* 2 */
S_291_0: /* 2 */
		if (!((((int)k)<2)))
			goto S_296_1;
S_292_0: /* 2 */
		now.waits[ Index(k, 2) ] = 0;
#ifdef VAR_RANGES
		logval("waits[k]", ((int)now.waits[ Index(((int)k), 2) ]));
#endif
		;
S_293_0: /* 2 */
		k = (((int)k)+1);
#ifdef VAR_RANGES
		logval("k", ((int)k));
#endif
		;
		goto S_297_0; /* ';' */
S_296_1: /* 3 */
S_294_0: /* 2 */
		/* else */;
S_295_0: /* 2 */
		goto S_299_0;	/* 'goto' */
S_296_2: /* 3 */
		Uerror("blocking sel in d_step (nr.1, near line 442)");
S_298_0: /* 2 */
		goto S_299_0;	/* 'break' */
S_299_0: /* 2 */
		now.era = 0;
#ifdef VAR_RANGES
		logval("era", ((int)now.era));
#endif
		;
		goto S_301_0;
S_301_0: /* 2 */
		now.within_guard = 2;
#ifdef VAR_RANGES
		logval("within_guard", ((int)now.within_guard));
#endif
		;
		goto S_348_0;
S_348_0: /* 1 */

#if defined(C_States) && (HAS_TRACK==1)
		c_update((uchar *) &(now.c_state[0]));
#endif
		_m = 3; goto P999;

	case 12: // STATE 73 - /work/wt/db4/tests/models/database.pml:503 - [D_STEP503]
		if (!(boq == -1 && ( !(((int)now.meddled))&&(((int)now.now_has.left)>0))))
			continue;

		reached[3][73] = 1;
		reached[3][t->st] = 1;
		reached[3][tt] = 1;

		if (TstOnly) return 1;

		sv_save();
		S_303_0: /* 2 */
		if (!(( !(((int)now.meddled))&&(((int)now.now_has.left)>0))))
			Uerror("block in d_step seq");
S_304_0: /* 2 */
		now.meddled = 1;
#ifdef VAR_RANGES
		logval("meddled", ((int)now.meddled));
#endif
		;
S_317_0: /* 2 */
S_305_0: /* 2 */
		next = 255;
#ifdef VAR_RANGES
		logval("next", ((int)next));
#endif
		;
S_306_0: /* 2 */
		k = 0;
#ifdef VAR_RANGES
		logval("k", ((int)k));
#endif
		;
S_315_0: /* 2 */
S_314_0: /* 2 */
S_307_0: /* 2 */
		if (!(((((((int)k)<2)&&(((int)k)!=255))&&((int)now.waits[ Index(((int)k), 2) ]))&&(((int)next)==255))))
			goto S_314_1;
S_308_0: /* 2 */
		next = ((int)k);
#ifdef VAR_RANGES
		logval("next", ((int)next));
#endif
		;
S_309_0: /* 2 */
		k = (((int)k)+1);
#ifdef VAR_RANGES
		logval("k", ((int)k));
#endif
		;
		goto S_315_0; /* ';' */
S_314_1: /* 3 */
S_310_0: /* 2 */
		if (!(((((int)k)<2)&& !((((((int)k)!=255)&&((int)now.waits[ Index(((int)k), 2) ]))&&(((int)next)==255))))))
			goto S_314_2;
S_311_0: /* 2 */
		k = (((int)k)+1);
#ifdef VAR_RANGES
		logval("k", ((int)k));
#endif
		;
		goto S_315_0; /* ';' */
S_314_2: /* 3 */
S_312_0: /* 2 */
		/* else */;
S_313_0: /* 2 */
		goto S_345_0;	/* 'goto' */
S_314_3: /* 3 */
		Uerror("blocking sel in d_step (nr.2, near line 172)");
S_316_0: /* 2 */
		goto S_345_0;	/* 'break' */
		goto S_345_0;
S_345_0: /* 2 */
S_343_0: /* 2 */
S_318_0: /* 2 */
		if (!((((((int)now.grants)<3)&&(((int)next)!=255))&& !(((now.client[0].tx==12)||(now.client[1].tx==12))))))
			goto S_343_1;
S_321_0: /* 2 */
S_319_0: /* 2 */
		now.settles = ( (((int)now.era)) ? (((int)now.settles)) : (2) );
#ifdef VAR_RANGES
		logval("settles", ((int)now.settles));
#endif
		;
S_320_0: /* 2 */
		now.era = 1;
#ifdef VAR_RANGES
		logval("era", ((int)now.era));
#endif
		;
		goto S_339_0;
S_339_0: /* 2 */
S_322_0: /* 2 */
		if (!((((int)now.settles)==0)))
			goto S_339_1;
S_336_0: /* 2 */
S_332_0: /* 2 */
S_323_0: /* 2 */
		now.now_has.fence = ( (((((int)now.now_has.fence)+1)>((((int)now.time)*8)+1))) ? ((((int)now.now_has.fence)+1)) : (((((int)now.time)*8)+1)) );
#ifdef VAR_RANGES
		logval("now_has.fence", ((int)now.now_has.fence));
#endif
		;
S_324_0: /* 2 */
		now.grants = (((int)now.grants)+1);
#ifdef VAR_RANGES
		logval("grants", ((int)now.grants));
#endif
		;
S_325_0: /* 2 */
		now.now_has.grant = ((int)now.grants);
#ifdef VAR_RANGES
		logval("now_has.grant", ((int)now.now_has.grant));
#endif
		;
S_326_0: /* 2 */
		now.now_has.owner = ((int)next);
#ifdef VAR_RANGES
		logval("now_has.owner", ((int)now.now_has.owner));
#endif
		;
S_327_0: /* 2 */
		now.now_has.left = 2;
#ifdef VAR_RANGES
		logval("now_has.left", ((int)now.now_has.left));
#endif
		;
S_328_0: /* 2 */
		if (!(1))
			Uerror("block in d_step seq");
S_329_0: /* 2 */
		if (!(1))
			Uerror("block in d_step seq");
S_330_0: /* 2 */
		last = ((int)now.now_has.fence);
#ifdef VAR_RANGES
		logval("last", ((int)last));
#endif
		;
S_331_0: /* 2 */
		now.waits[ Index(next, 2) ] = 0;
#ifdef VAR_RANGES
		logval("waits[next]", ((int)now.waits[ Index(((int)next), 2) ]));
#endif
		;
		goto S_333_0;
S_333_0: /* 2 */
		now.client[ Index(next, 2) ].fence = ( ((now.client[ Index(((int)next), 2) ].call==6)) ? (((int)now.now_has.fence)) : (((int)now.client[ Index(((int)next), 2) ].fence)) );
#ifdef VAR_RANGES
		logval("client[next].fence", ((int)now.client[ Index(((int)next), 2) ].fence));
#endif
		;
S_334_0: /* 2 */
		now.client[ Index(next, 2) ].grant = ( ((now.client[ Index(((int)next), 2) ].call==6)) ? (((int)now.now_has.grant)) : (((int)now.client[ Index(((int)next), 2) ].grant)) );
#ifdef VAR_RANGES
		logval("client[next].grant", ((int)now.client[ Index(((int)next), 2) ].grant));
#endif
		;
S_335_0: /* 2 */
		now.client[ Index(next, 2) ].call = ( ((now.client[ Index(((int)next), 2) ].call==6)) ? (5) : (now.client[ Index(((int)next), 2) ].call) );
#ifdef VAR_RANGES
		logval("client[next].call", now.client[ Index(((int)next), 2) ].call);
#endif
		;
		goto S_340_0;
S_339_1: /* 3 */
S_337_0: /* 2 */
		/* else */;
S_338_0: /* 2 */
		now.now_has.left = 0;
#ifdef VAR_RANGES
		logval("now_has.left", ((int)now.now_has.left));
#endif
		;
		goto S_340_0;
S_339_2: /* 3 */
		Uerror("blocking sel in d_step (nr.3, near line 231)");
S_340_0: /* 2 */
		goto S_344_0;
S_343_1: /* 3 */
S_341_0: /* 2 */
		/* else */;
S_342_0: /* 2 */
		now.now_has.left = 0;
#ifdef VAR_RANGES
		logval("now_has.left", ((int)now.now_has.left));
#endif
		;
		goto S_344_0;
S_343_2: /* 3 */
		Uerror("blocking sel in d_step (nr.4, near line 228)");
S_344_0: /* 2 */
		goto S_348_0; /* '.' */
		goto S_348_0; /* ';' */
		goto S_348_0; /* ';' */

#if defined(C_States) && (HAS_TRACK==1)
		c_update((uchar *) &(now.c_state[0]));
#endif
		_m = 3; goto P999;

	case 13: // STATE 77 - /work/wt/db4/tests/models/database.pml:519 - [-end-] (0:0:0 - 0)
		IfNotBlocked
		reached[3][77] = 1;
		if (!delproc(1, II)) continue;
		_m = 3; goto P999; /* 0 */

		 /* PROC Clock */
	case 14: // STATE 21 - /work/wt/db4/tests/models/database.pml:402 - [D_STEP402]
		if (!(boq == -1 && (((int)now.time)<4)))
			continue;

		reached[2][21] = 1;
		reached[2][t->st] = 1;
		reached[2][tt] = 1;

		if (TstOnly) return 1;

		sv_save();
		S_249_0: /* 2 */
		if (!((((int)now.time)<4)))
			Uerror("block in d_step seq");
S_250_0: /* 2 */
		now.time = (((int)now.time)+1);
#ifdef VAR_RANGES
		logval("time", ((int)now.time));
#endif
		;
S_252_0: /* 2 */
S_251_0: /* 2 */
		now.now_has.left = ( ((((int)now.now_has.left)>0)) ? ((((int)now.now_has.left)-1)) : (0) );
#ifdef VAR_RANGES
		logval("now_has.left", ((int)now.now_has.left));
#endif
		;
		goto S_254_0;
S_254_0: /* 2 */
S_253_0: /* 2 */
		now.settles = ( ((((int)now.settles)>0)) ? ((((int)now.settles)-1)) : (0) );
#ifdef VAR_RANGES
		logval("settles", ((int)now.settles));
#endif
		;
		goto S_256_0;
S_256_0: /* 2 */
S_255_0: /* 2 */
		now.within_guard = ( ((((int)now.within_guard)>0)) ? ((((int)now.within_guard)-1)) : (0) );
#ifdef VAR_RANGES
		logval("within_guard", ((int)now.within_guard));
#endif
		;
		goto S_257_0;
S_257_0: /* 2 */
		k = 0;
#ifdef VAR_RANGES
		logval("k", ((int)k));
#endif
		;
S_267_0: /* 2 */
S_266_0: /* 2 */
S_258_0: /* 2 */
		if (!((((int)k)<2)))
			goto S_266_1;
S_259_0: /* 2 */
		now.owners = (((int)now.owners)-( ((((int)now.client[ Index(((int)k), 2) ].belief)==1)) ? (1) : (0) ));
#ifdef VAR_RANGES
		logval("owners", ((int)now.owners));
#endif
		;
S_261_0: /* 2 */
S_260_0: /* 2 */
		now.client[ Index(k, 2) ].belief = ( ((((int)now.client[ Index(((int)k), 2) ].belief)>0)) ? ((((int)now.client[ Index(((int)k), 2) ].belief)-1)) : (0) );
#ifdef VAR_RANGES
		logval("client[k].belief", ((int)now.client[ Index(((int)k), 2) ].belief));
#endif
		;
		goto S_262_0;
S_262_0: /* 2 */
		now.client[ Index(k, 2) ].age = ( ((((now.client[ Index(((int)k), 2) ].call!=11)&&(now.client[ Index(((int)k), 2) ].call!=8))&&(((int)now.client[ Index(((int)k), 2) ].age)<2))) ? ((((int)now.client[ Index(((int)k), 2) ].age)+1)) : (((int)now.client[ Index(((int)k), 2) ].age)) );
#ifdef VAR_RANGES
		logval("client[k].age", ((int)now.client[ Index(((int)k), 2) ].age));
#endif
		;
S_263_0: /* 2 */
		k = (((int)k)+1);
#ifdef VAR_RANGES
		logval("k", ((int)k));
#endif
		;
		goto S_267_0; /* ';' */
S_266_1: /* 3 */
S_264_0: /* 2 */
		/* else */;
S_265_0: /* 2 */
		goto S_268_0;	/* 'goto' */
S_266_2: /* 3 */
		Uerror("blocking sel in d_step (nr.5, near line 411)");
S_268_0: /* 2 */
		goto S_270_0;	/* 'break' */
S_271_0: /* 1 */
S_270_0:	/* break-dest */

#if defined(C_States) && (HAS_TRACK==1)
		c_update((uchar *) &(now.c_state[0]));
#endif
		_m = 3; goto P999;

	case 15: // STATE 25 - /work/wt/db4/tests/models/database.pml:423 - [-end-] (0:0:0 - 0)
		IfNotBlocked
		reached[2][25] = 1;
		if (!delproc(1, II)) continue;
		_m = 3; goto P999; /* 0 */

		 /* PROC Process */
	case 16: // STATE 4 - /work/wt/db4/tests/models/database.pml:350 - [D_STEP350]
		if (!(boq == -1 && ((now.client[ Index(((int)((P1 *)_this)->c), 2) ].state==4)&&(((int)now.grants)<3))))
			continue;

		reached[1][4] = 1;
		reached[1][t->st] = 1;
		reached[1][tt] = 1;

		if (TstOnly) return 1;

		sv_save();
		S_126_0: /* 2 */
		if (!(((now.client[ Index(((int)((P1 *)_this)->c), 2) ].state==4)&&(((int)now.grants)<3))))
			Uerror("block in d_step seq");
S_127_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].state = 3;
#ifdef VAR_RANGES
		logval("client[Process:c].state", now.client[ Index(((int)((P1 *)_this)->c), 2) ].state);
#endif
		;
S_128_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].call = 10;
#ifdef VAR_RANGES
		logval("client[Process:c].call", now.client[ Index(((int)((P1 *)_this)->c), 2) ].call);
#endif
		;
		goto S_246_0;
S_246_0: /* 1 */

#if defined(C_States) && (HAS_TRACK==1)
		c_update((uchar *) &(now.c_state[0]));
#endif
		_m = 3; goto P999;

	case 17: // STATE 25 - /work/wt/db4/tests/models/database.pml:352 - [D_STEP352]
		if (!(boq == -1 && ((now.client[ Index(((int)((P1 *)_this)->c), 2) ].state==3)&&(now.client[ Index(((int)((P1 *)_this)->c), 2) ].call==7))))
			continue;

		reached[1][25] = 1;
		reached[1][t->st] = 1;
		reached[1][tt] = 1;

		if (TstOnly) return 1;

		sv_save();
		S_130_0: /* 2 */
		if (!(((now.client[ Index(((int)((P1 *)_this)->c), 2) ].state==3)&&(now.client[ Index(((int)((P1 *)_this)->c), 2) ].call==7))))
			Uerror("block in d_step seq");
S_149_0: /* 2 */
S_131_0: /* 2 */
		lasts = ( ((((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].age)<2)) ? ((2-((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].age))) : (0) );
#ifdef VAR_RANGES
		logval("lasts", ((int)lasts));
#endif
		;
S_147_0: /* 2 */
S_132_0: /* 2 */
		if (!((((int)lasts)>0)))
			goto S_147_1;
S_133_0: /* 2 */
		now.owners = (((int)now.owners)+1);
#ifdef VAR_RANGES
		logval("owners", ((int)now.owners));
#endif
		;
S_134_0: /* 2 */
		spin_assert((((int)now.owners)==1), "(owners==1)", II, tt, t);
S_135_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].belief = ((int)lasts);
#ifdef VAR_RANGES
		logval("client[Process:c].belief", ((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].belief));
#endif
		;
S_136_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].call = 11;
#ifdef VAR_RANGES
		logval("client[Process:c].call", now.client[ Index(((int)((P1 *)_this)->c), 2) ].call);
#endif
		;
S_137_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].age = 0;
#ifdef VAR_RANGES
		logval("client[Process:c].age", ((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].age));
#endif
		;
S_138_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].state = 2;
#ifdef VAR_RANGES
		logval("client[Process:c].state", now.client[ Index(((int)((P1 *)_this)->c), 2) ].state);
#endif
		;
		goto S_148_0;
S_147_1: /* 3 */
S_139_0: /* 2 */
		/* else */;
S_146_0: /* 2 */
S_142_0: /* 2 */
S_140_0: /* 2 */
		now.owners = (((int)now.owners)-( ((((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].belief)>0)) ? (1) : (0) ));
#ifdef VAR_RANGES
		logval("owners", ((int)now.owners));
#endif
		;
S_141_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].belief = 0;
#ifdef VAR_RANGES
		logval("client[Process:c].belief", ((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].belief));
#endif
		;
		goto S_143_0;
S_143_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].call = 8;
#ifdef VAR_RANGES
		logval("client[Process:c].call", now.client[ Index(((int)((P1 *)_this)->c), 2) ].call);
#endif
		;
S_144_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].age = 0;
#ifdef VAR_RANGES
		logval("client[Process:c].age", ((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].age));
#endif
		;
S_145_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].state = 1;
#ifdef VAR_RANGES
		logval("client[Process:c].state", now.client[ Index(((int)((P1 *)_this)->c), 2) ].state);
#endif
		;
		goto S_148_0;
		goto S_148_0;
S_147_2: /* 3 */
		Uerror("blocking sel in d_step (nr.6, near line 283)");
S_148_0: /* 2 */
		goto S_246_0; /* '.' */
		goto S_246_0; /* ';' */
		goto S_246_0; /* ';' */

#if defined(C_States) && (HAS_TRACK==1)
		c_update((uchar *) &(now.c_state[0]));
#endif
		_m = 3; goto P999;

	case 18: // STATE 46 - /work/wt/db4/tests/models/database.pml:354 - [D_STEP354]
		if (!(boq == -1 && ((now.client[ Index(((int)((P1 *)_this)->c), 2) ].state==3)&&(now.client[ Index(((int)((P1 *)_this)->c), 2) ].call==5))))
			continue;

		reached[1][46] = 1;
		reached[1][t->st] = 1;
		reached[1][tt] = 1;

		if (TstOnly) return 1;

		sv_save();
		S_151_0: /* 2 */
		if (!(((now.client[ Index(((int)((P1 *)_this)->c), 2) ].state==3)&&(now.client[ Index(((int)((P1 *)_this)->c), 2) ].call==5))))
			Uerror("block in d_step seq");
S_170_0: /* 2 */
S_152_0: /* 2 */
		lasts = ( ((((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].age)<2)) ? ((2-((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].age))) : (0) );
#ifdef VAR_RANGES
		logval("lasts", ((int)lasts));
#endif
		;
S_168_0: /* 2 */
S_153_0: /* 2 */
		if (!((((int)lasts)>0)))
			goto S_168_1;
S_154_0: /* 2 */
		now.owners = (((int)now.owners)+1);
#ifdef VAR_RANGES
		logval("owners", ((int)now.owners));
#endif
		;
S_155_0: /* 2 */
		spin_assert((((int)now.owners)==1), "(owners==1)", II, tt, t);
S_156_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].belief = ((int)lasts);
#ifdef VAR_RANGES
		logval("client[Process:c].belief", ((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].belief));
#endif
		;
S_157_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].call = 11;
#ifdef VAR_RANGES
		logval("client[Process:c].call", now.client[ Index(((int)((P1 *)_this)->c), 2) ].call);
#endif
		;
S_158_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].age = 0;
#ifdef VAR_RANGES
		logval("client[Process:c].age", ((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].age));
#endif
		;
S_159_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].state = 2;
#ifdef VAR_RANGES
		logval("client[Process:c].state", now.client[ Index(((int)((P1 *)_this)->c), 2) ].state);
#endif
		;
		goto S_169_0;
S_168_1: /* 3 */
S_160_0: /* 2 */
		/* else */;
S_167_0: /* 2 */
S_163_0: /* 2 */
S_161_0: /* 2 */
		now.owners = (((int)now.owners)-( ((((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].belief)>0)) ? (1) : (0) ));
#ifdef VAR_RANGES
		logval("owners", ((int)now.owners));
#endif
		;
S_162_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].belief = 0;
#ifdef VAR_RANGES
		logval("client[Process:c].belief", ((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].belief));
#endif
		;
		goto S_164_0;
S_164_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].call = 8;
#ifdef VAR_RANGES
		logval("client[Process:c].call", now.client[ Index(((int)((P1 *)_this)->c), 2) ].call);
#endif
		;
S_165_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].age = 0;
#ifdef VAR_RANGES
		logval("client[Process:c].age", ((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].age));
#endif
		;
S_166_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].state = 1;
#ifdef VAR_RANGES
		logval("client[Process:c].state", now.client[ Index(((int)((P1 *)_this)->c), 2) ].state);
#endif
		;
		goto S_169_0;
		goto S_169_0;
S_168_2: /* 3 */
		Uerror("blocking sel in d_step (nr.7, near line 283)");
S_169_0: /* 2 */
		goto S_246_0; /* '.' */
		goto S_246_0; /* ';' */
		goto S_246_0; /* ';' */

#if defined(C_States) && (HAS_TRACK==1)
		c_update((uchar *) &(now.c_state[0]));
#endif
		_m = 3; goto P999;

	case 19: // STATE 50 - /work/wt/db4/tests/models/database.pml:356 - [D_STEP356]
		if (!(boq == -1 && ((now.client[ Index(((int)((P1 *)_this)->c), 2) ].state==3)&&((now.client[ Index(((int)((P1 *)_this)->c), 2) ].call==6)||(now.client[ Index(((int)((P1 *)_this)->c), 2) ].call==5)))))
			continue;

		reached[1][50] = 1;
		reached[1][t->st] = 1;
		reached[1][tt] = 1;

		if (TstOnly) return 1;

		sv_save();
		S_172_0: /* 2 */
		if (!(((now.client[ Index(((int)((P1 *)_this)->c), 2) ].state==3)&&((now.client[ Index(((int)((P1 *)_this)->c), 2) ].call==6)||(now.client[ Index(((int)((P1 *)_this)->c), 2) ].call==5)))))
			Uerror("block in d_step seq");
S_173_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].call = 10;
#ifdef VAR_RANGES
		logval("client[Process:c].call", now.client[ Index(((int)((P1 *)_this)->c), 2) ].call);
#endif
		;
S_174_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].age = 0;
#ifdef VAR_RANGES
		logval("client[Process:c].age", ((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].age));
#endif
		;
		goto S_246_0; /* ';' */

#if defined(C_States) && (HAS_TRACK==1)
		c_update((uchar *) &(now.c_state[0]));
#endif
		_m = 3; goto P999;

	case 20: // STATE 59 - /work/wt/db4/tests/models/database.pml:358 - [D_STEP358]
		if (!(boq == -1 && ((now.client[ Index(((int)((P1 *)_this)->c), 2) ].state==3)&&(now.client[ Index(((int)((P1 *)_this)->c), 2) ].call==6))))
			continue;

		reached[1][59] = 1;
		reached[1][t->st] = 1;
		reached[1][tt] = 1;

		if (TstOnly) return 1;

		sv_save();
		S_176_0: /* 2 */
		if (!(((now.client[ Index(((int)((P1 *)_this)->c), 2) ].state==3)&&(now.client[ Index(((int)((P1 *)_this)->c), 2) ].call==6))))
			Uerror("block in d_step seq");
S_183_0: /* 2 */
S_179_0: /* 2 */
S_177_0: /* 2 */
		now.owners = (((int)now.owners)-( ((((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].belief)>0)) ? (1) : (0) ));
#ifdef VAR_RANGES
		logval("owners", ((int)now.owners));
#endif
		;
S_178_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].belief = 0;
#ifdef VAR_RANGES
		logval("client[Process:c].belief", ((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].belief));
#endif
		;
		goto S_180_0;
S_180_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].call = 8;
#ifdef VAR_RANGES
		logval("client[Process:c].call", now.client[ Index(((int)((P1 *)_this)->c), 2) ].call);
#endif
		;
S_181_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].age = 0;
#ifdef VAR_RANGES
		logval("client[Process:c].age", ((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].age));
#endif
		;
S_182_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].state = 1;
#ifdef VAR_RANGES
		logval("client[Process:c].state", now.client[ Index(((int)((P1 *)_this)->c), 2) ].state);
#endif
		;
		goto S_246_0; /* ';' */
		goto S_246_0; /* ';' */

#if defined(C_States) && (HAS_TRACK==1)
		c_update((uchar *) &(now.c_state[0]));
#endif
		_m = 3; goto P999;

	case 21: // STATE 63 - /work/wt/db4/tests/models/database.pml:359 - [D_STEP359]
		if (!(boq == -1 && (((now.client[ Index(((int)((P1 *)_this)->c), 2) ].state==2)&&(now.client[ Index(((int)((P1 *)_this)->c), 2) ].call==11))&&(((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].belief)>0))))
			continue;

		reached[1][63] = 1;
		reached[1][t->st] = 1;
		reached[1][tt] = 1;

		if (TstOnly) return 1;

		sv_save();
		S_185_0: /* 2 */
		if (!((((now.client[ Index(((int)((P1 *)_this)->c), 2) ].state==2)&&(now.client[ Index(((int)((P1 *)_this)->c), 2) ].call==11))&&(((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].belief)>0))))
			Uerror("block in d_step seq");
S_186_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].call = 9;
#ifdef VAR_RANGES
		logval("client[Process:c].call", now.client[ Index(((int)((P1 *)_this)->c), 2) ].call);
#endif
		;
S_187_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].age = 0;
#ifdef VAR_RANGES
		logval("client[Process:c].age", ((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].age));
#endif
		;
		goto S_246_0; /* ';' */

#if defined(C_States) && (HAS_TRACK==1)
		c_update((uchar *) &(now.c_state[0]));
#endif
		_m = 3; goto P999;

	case 22: // STATE 69 - /work/wt/db4/tests/models/database.pml:361 - [D_STEP361]
		if (!(boq == -1 && (((now.client[ Index(((int)((P1 *)_this)->c), 2) ].state==2)&&(now.client[ Index(((int)((P1 *)_this)->c), 2) ].call==7))&&(((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].belief)>0))))
			continue;

		reached[1][69] = 1;
		reached[1][t->st] = 1;
		reached[1][tt] = 1;

		if (TstOnly) return 1;

		sv_save();
		S_189_0: /* 2 */
		if (!((((now.client[ Index(((int)((P1 *)_this)->c), 2) ].state==2)&&(now.client[ Index(((int)((P1 *)_this)->c), 2) ].call==7))&&(((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].belief)>0))))
			Uerror("block in d_step seq");
S_190_0: /* 2 */
		lasts = ( ((((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].age)<2)) ? ((2-((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].age))) : (0) );
#ifdef VAR_RANGES
		logval("lasts", ((int)lasts));
#endif
		;
S_191_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].belief = ( ((((int)lasts)>((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].belief))) ? (((int)lasts)) : (((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].belief)) );
#ifdef VAR_RANGES
		logval("client[Process:c].belief", ((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].belief));
#endif
		;
S_192_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].call = 11;
#ifdef VAR_RANGES
		logval("client[Process:c].call", now.client[ Index(((int)((P1 *)_this)->c), 2) ].call);
#endif
		;
S_193_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].age = 0;
#ifdef VAR_RANGES
		logval("client[Process:c].age", ((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].age));
#endif
		;
		goto S_246_0; /* ';' */

#if defined(C_States) && (HAS_TRACK==1)
		c_update((uchar *) &(now.c_state[0]));
#endif
		_m = 3; goto P999;

	case 23: // STATE 78 - /work/wt/db4/tests/models/database.pml:366 - [D_STEP366]
		if (!(boq == -1 && ((now.client[ Index(((int)((P1 *)_this)->c), 2) ].state==2)&&(((((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].belief)==0)||(now.client[ Index(((int)((P1 *)_this)->c), 2) ].call==11))||(now.client[ Index(((int)((P1 *)_this)->c), 2) ].call==6)))))
			continue;

		reached[1][78] = 1;
		reached[1][t->st] = 1;
		reached[1][tt] = 1;

		if (TstOnly) return 1;

		sv_save();
		S_195_0: /* 2 */
		if (!(((now.client[ Index(((int)((P1 *)_this)->c), 2) ].state==2)&&(((((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].belief)==0)||(now.client[ Index(((int)((P1 *)_this)->c), 2) ].call==11))||(now.client[ Index(((int)((P1 *)_this)->c), 2) ].call==6)))))
			Uerror("block in d_step seq");
S_202_0: /* 2 */
S_198_0: /* 2 */
S_196_0: /* 2 */
		now.owners = (((int)now.owners)-( ((((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].belief)>0)) ? (1) : (0) ));
#ifdef VAR_RANGES
		logval("owners", ((int)now.owners));
#endif
		;
S_197_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].belief = 0;
#ifdef VAR_RANGES
		logval("client[Process:c].belief", ((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].belief));
#endif
		;
		goto S_199_0;
S_199_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].call = 8;
#ifdef VAR_RANGES
		logval("client[Process:c].call", now.client[ Index(((int)((P1 *)_this)->c), 2) ].call);
#endif
		;
S_200_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].age = 0;
#ifdef VAR_RANGES
		logval("client[Process:c].age", ((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].age));
#endif
		;
S_201_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].state = 1;
#ifdef VAR_RANGES
		logval("client[Process:c].state", now.client[ Index(((int)((P1 *)_this)->c), 2) ].state);
#endif
		;
		goto S_246_0; /* ';' */
		goto S_246_0; /* ';' */

#if defined(C_States) && (HAS_TRACK==1)
		c_update((uchar *) &(now.c_state[0]));
#endif
		_m = 3; goto P999;

	case 24: // STATE 92 - /work/wt/db4/tests/models/database.pml:369 - [D_STEP369]
		if (!(boq == -1 && (((now.client[ Index(((int)((P1 *)_this)->c), 2) ].state==1)&&(now.client[ Index(((int)((P1 *)_this)->c), 2) ].call==11))&&(now.client[ Index(((int)((P1 *)_this)->c), 2) ].tx==14))))
			continue;

		reached[1][92] = 1;
		reached[1][t->st] = 1;
		reached[1][tt] = 1;

		if (TstOnly) return 1;

		sv_save();
		S_204_0: /* 2 */
		if (!((((now.client[ Index(((int)((P1 *)_this)->c), 2) ].state==1)&&(now.client[ Index(((int)((P1 *)_this)->c), 2) ].call==11))&&(now.client[ Index(((int)((P1 *)_this)->c), 2) ].tx==14))))
			Uerror("block in d_step seq");
S_216_0: /* 2 */
S_207_0: /* 2 */
S_205_0: /* 2 */
		now.owners = (((int)now.owners)-( ((((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].belief)>0)) ? (1) : (0) ));
#ifdef VAR_RANGES
		logval("owners", ((int)now.owners));
#endif
		;
S_206_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].belief = 0;
#ifdef VAR_RANGES
		logval("client[Process:c].belief", ((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].belief));
#endif
		;
		goto S_208_0;
S_208_0: /* 2 */
		now.now_has.owner = ( ((((int)now.now_has.owner)==((int)((P1 *)_this)->c))) ? (255) : (((int)now.now_has.owner)) );
#ifdef VAR_RANGES
		logval("now_has.owner", ((int)now.now_has.owner));
#endif
		;
S_209_0: /* 2 */
		now.waits[ Index(((P1 *)_this)->c, 2) ] = 0;
#ifdef VAR_RANGES
		logval("waits[Process:c]", ((int)now.waits[ Index(((int)((P1 *)_this)->c), 2) ]));
#endif
		;
S_210_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].tx = 14;
#ifdef VAR_RANGES
		logval("client[Process:c].tx", now.client[ Index(((int)((P1 *)_this)->c), 2) ].tx);
#endif
		;
S_211_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].call = 11;
#ifdef VAR_RANGES
		logval("client[Process:c].call", now.client[ Index(((int)((P1 *)_this)->c), 2) ].call);
#endif
		;
S_212_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].age = 0;
#ifdef VAR_RANGES
		logval("client[Process:c].age", ((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].age));
#endif
		;
S_213_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].fence = 0;
#ifdef VAR_RANGES
		logval("client[Process:c].fence", ((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].fence));
#endif
		;
S_214_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].grant = 0;
#ifdef VAR_RANGES
		logval("client[Process:c].grant", ((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].grant));
#endif
		;
S_215_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].state = 4;
#ifdef VAR_RANGES
		logval("client[Process:c].state", now.client[ Index(((int)((P1 *)_this)->c), 2) ].state);
#endif
		;
		goto S_246_0; /* ';' */
		goto S_246_0; /* ';' */

#if defined(C_States) && (HAS_TRACK==1)
		c_update((uchar *) &(now.c_state[0]));
#endif
		_m = 3; goto P999;

	case 25: // STATE 106 - /work/wt/db4/tests/models/database.pml:371 - [D_STEP371]
		if (!(boq == -1 && ((now.client[ Index(((int)((P1 *)_this)->c), 2) ].state==3)||(now.client[ Index(((int)((P1 *)_this)->c), 2) ].state==2))))
			continue;

		reached[1][106] = 1;
		reached[1][t->st] = 1;
		reached[1][tt] = 1;

		if (TstOnly) return 1;

		sv_save();
		S_218_0: /* 2 */
		if (!(((now.client[ Index(((int)((P1 *)_this)->c), 2) ].state==3)||(now.client[ Index(((int)((P1 *)_this)->c), 2) ].state==2))))
			Uerror("block in d_step seq");
S_230_0: /* 2 */
S_221_0: /* 2 */
S_219_0: /* 2 */
		now.owners = (((int)now.owners)-( ((((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].belief)>0)) ? (1) : (0) ));
#ifdef VAR_RANGES
		logval("owners", ((int)now.owners));
#endif
		;
S_220_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].belief = 0;
#ifdef VAR_RANGES
		logval("client[Process:c].belief", ((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].belief));
#endif
		;
		goto S_222_0;
S_222_0: /* 2 */
		now.now_has.owner = ( ((((int)now.now_has.owner)==((int)((P1 *)_this)->c))) ? (255) : (((int)now.now_has.owner)) );
#ifdef VAR_RANGES
		logval("now_has.owner", ((int)now.now_has.owner));
#endif
		;
S_223_0: /* 2 */
		now.waits[ Index(((P1 *)_this)->c, 2) ] = 0;
#ifdef VAR_RANGES
		logval("waits[Process:c]", ((int)now.waits[ Index(((int)((P1 *)_this)->c), 2) ]));
#endif
		;
S_224_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].tx = 14;
#ifdef VAR_RANGES
		logval("client[Process:c].tx", now.client[ Index(((int)((P1 *)_this)->c), 2) ].tx);
#endif
		;
S_225_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].call = 11;
#ifdef VAR_RANGES
		logval("client[Process:c].call", now.client[ Index(((int)((P1 *)_this)->c), 2) ].call);
#endif
		;
S_226_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].age = 0;
#ifdef VAR_RANGES
		logval("client[Process:c].age", ((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].age));
#endif
		;
S_227_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].fence = 0;
#ifdef VAR_RANGES
		logval("client[Process:c].fence", ((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].fence));
#endif
		;
S_228_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].grant = 0;
#ifdef VAR_RANGES
		logval("client[Process:c].grant", ((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].grant));
#endif
		;
S_229_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].state = 4;
#ifdef VAR_RANGES
		logval("client[Process:c].state", now.client[ Index(((int)((P1 *)_this)->c), 2) ].state);
#endif
		;
		goto S_246_0; /* ';' */
		goto S_246_0; /* ';' */

#if defined(C_States) && (HAS_TRACK==1)
		c_update((uchar *) &(now.c_state[0]));
#endif
		_m = 3; goto P999;

	case 26: // STATE 109 - /work/wt/db4/tests/models/database.pml:374 - [D_STEP374]
		if (!(boq == -1 && ((now.client[ Index(((int)((P1 *)_this)->c), 2) ].tx==14)&&(((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].belief)>0))))
			continue;

		reached[1][109] = 1;
		reached[1][t->st] = 1;
		reached[1][tt] = 1;

		if (TstOnly) return 1;

		sv_save();
		S_232_0: /* 2 */
		if (!(((now.client[ Index(((int)((P1 *)_this)->c), 2) ].tx==14)&&(((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].belief)>0))))
			Uerror("block in d_step seq");
S_233_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].tx = 13;
#ifdef VAR_RANGES
		logval("client[Process:c].tx", now.client[ Index(((int)((P1 *)_this)->c), 2) ].tx);
#endif
		;
		goto S_246_0; /* ';' */

#if defined(C_States) && (HAS_TRACK==1)
		c_update((uchar *) &(now.c_state[0]));
#endif
		_m = 3; goto P999;

	case 27: // STATE 112 - /work/wt/db4/tests/models/database.pml:379 - [D_STEP379]
		if (!(boq == -1 && ((now.client[ Index(((int)((P1 *)_this)->c), 2) ].tx==13)&&(((int)now.now_has.fence)==((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].fence)))))
			continue;

		reached[1][112] = 1;
		reached[1][t->st] = 1;
		reached[1][tt] = 1;

		if (TstOnly) return 1;

		sv_save();
		S_235_0: /* 2 */
		if (!(((now.client[ Index(((int)((P1 *)_this)->c), 2) ].tx==13)&&(((int)now.now_has.fence)==((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].fence)))))
			Uerror("block in d_step seq");
S_236_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].tx = 12;
#ifdef VAR_RANGES
		logval("client[Process:c].tx", now.client[ Index(((int)((P1 *)_this)->c), 2) ].tx);
#endif
		;
		goto S_246_0; /* ';' */

#if defined(C_States) && (HAS_TRACK==1)
		c_update((uchar *) &(now.c_state[0]));
#endif
		_m = 3; goto P999;

	case 28: // STATE 115 - /work/wt/db4/tests/models/database.pml:380 - [D_STEP380]
		if (!(boq == -1 && ((now.client[ Index(((int)((P1 *)_this)->c), 2) ].tx==13)&&(((int)now.now_has.fence)!=((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].fence)))))
			continue;

		reached[1][115] = 1;
		reached[1][t->st] = 1;
		reached[1][tt] = 1;

		if (TstOnly) return 1;

		sv_save();
		S_238_0: /* 2 */
		if (!(((now.client[ Index(((int)((P1 *)_this)->c), 2) ].tx==13)&&(((int)now.now_has.fence)!=((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].fence)))))
			Uerror("block in d_step seq");
S_239_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].tx = 14;
#ifdef VAR_RANGES
		logval("client[Process:c].tx", now.client[ Index(((int)((P1 *)_this)->c), 2) ].tx);
#endif
		;
		goto S_246_0; /* ';' */

#if defined(C_States) && (HAS_TRACK==1)
		c_update((uchar *) &(now.c_state[0]));
#endif
		_m = 3; goto P999;

	case 29: // STATE 119 - /work/wt/db4/tests/models/database.pml:381 - [D_STEP381]
		if (!(boq == -1 && (now.client[ Index(((int)((P1 *)_this)->c), 2) ].tx==12)))
			continue;

		reached[1][119] = 1;
		reached[1][t->st] = 1;
		reached[1][tt] = 1;

		if (TstOnly) return 1;

		sv_save();
		S_241_0: /* 2 */
		if (!((now.client[ Index(((int)((P1 *)_this)->c), 2) ].tx==12)))
			Uerror("block in d_step seq");
S_242_0: /* 2 */
		now.now_has.written = ((int)now.client[ Index(((int)((P1 *)_this)->c), 2) ].grant);
#ifdef VAR_RANGES
		logval("now_has.written", ((int)now.now_has.written));
#endif
		;
S_243_0: /* 2 */
		now.client[ Index(((P1 *)_this)->c, 2) ].tx = 14;
#ifdef VAR_RANGES
		logval("client[Process:c].tx", now.client[ Index(((int)((P1 *)_this)->c), 2) ].tx);
#endif
		;
		goto S_246_0; /* ';' */

#if defined(C_States) && (HAS_TRACK==1)
		c_update((uchar *) &(now.c_state[0]));
#endif
		_m = 3; goto P999;

	case 30: // STATE 123 - /work/wt/db4/tests/models/database.pml:388 - [-end-] (0:0:0 - 0)
		IfNotBlocked
		reached[1][123] = 1;
		if (!delproc(1, II)) continue;
		_m = 3; goto P999; /* 0 */

		 /* PROC Session */
	case 31: // STATE 62 - /work/wt/db4/tests/models/database.pml:340 - [D_STEP340]
		if (!(boq == -1 && (now.client[ Index(((int)((P0 *)_this)->c), 2) ].call==10)))
			continue;

		reached[0][62] = 1;
		reached[0][t->st] = 1;
		reached[0][tt] = 1;

		if (TstOnly) return 1;

		sv_save();
		S_000_0: /* 2 */
		if (!((now.client[ Index(((int)((P0 *)_this)->c), 2) ].call==10)))
			Uerror("block in d_step seq");
S_060_0: /* 2 */
S_003_0: /* 2 */
S_001_0: /* 2 */
		now.settles = ( (((int)now.era)) ? (((int)now.settles)) : (2) );
#ifdef VAR_RANGES
		logval("settles", ((int)now.settles));
#endif
		;
S_002_0: /* 2 */
		now.era = 1;
#ifdef VAR_RANGES
		logval("era", ((int)now.era));
#endif
		;
		goto S_016_0;
S_016_0: /* 2 */
S_004_0: /* 2 */
		next = 255;
#ifdef VAR_RANGES
		logval("next", ((int)next));
#endif
		;
S_005_0: /* 2 */
		k = 0;
#ifdef VAR_RANGES
		logval("k", ((int)k));
#endif
		;
S_014_0: /* 2 */
S_013_0: /* 2 */
S_006_0: /* 2 */
		if (!(((((((int)k)<2)&&(((int)k)!=((int)((P0 *)_this)->c)))&&((int)now.waits[ Index(((int)k), 2) ]))&&(((int)next)==255))))
			goto S_013_1;
S_007_0: /* 2 */
		next = ((int)k);
#ifdef VAR_RANGES
		logval("next", ((int)next));
#endif
		;
S_008_0: /* 2 */
		k = (((int)k)+1);
#ifdef VAR_RANGES
		logval("k", ((int)k));
#endif
		;
		goto S_014_0; /* ';' */
S_013_1: /* 3 */
S_009_0: /* 2 */
		if (!(((((int)k)<2)&& !((((((int)k)!=((int)((P0 *)_this)->c))&&((int)now.waits[ Index(((int)k), 2) ]))&&(((int)next)==255))))))
			goto S_013_2;
S_010_0: /* 2 */
		k = (((int)k)+1);
#ifdef VAR_RANGES
		logval("k", ((int)k));
#endif
		;
		goto S_014_0; /* ';' */
S_013_2: /* 3 */
S_011_0: /* 2 */
		/* else */;
S_012_0: /* 2 */
		goto S_058_0;	/* 'goto' */
S_013_3: /* 3 */
		Uerror("blocking sel in d_step (nr.8, near line 172)");
S_015_0: /* 2 */
		goto S_058_0;	/* 'break' */
		goto S_058_0;
S_058_0: /* 2 */
S_017_0: /* 2 */
		if (!(((((int)now.settles)==0)&&((((int)now.now_has.owner)==((int)((P0 *)_this)->c))&&(((int)now.now_has.left)>0)))))
			goto S_058_1;
S_018_0: /* 2 */
		now.now_has.left = 2;
#ifdef VAR_RANGES
		logval("now_has.left", ((int)now.now_has.left));
#endif
		;
S_022_0: /* 2 */
S_019_0: /* 2 */
		now.client[ Index(((P0 *)_this)->c, 2) ].fence = ((int)now.now_has.fence);
#ifdef VAR_RANGES
		logval("client[Session:c].fence", ((int)now.client[ Index(((int)((P0 *)_this)->c), 2) ].fence));
#endif
		;
S_020_0: /* 2 */
		now.client[ Index(((P0 *)_this)->c, 2) ].grant = ((int)now.now_has.grant);
#ifdef VAR_RANGES
		logval("client[Session:c].grant", ((int)now.client[ Index(((int)((P0 *)_this)->c), 2) ].grant));
#endif
		;
S_021_0: /* 2 */
		now.client[ Index(((P0 *)_this)->c, 2) ].call = 7;
#ifdef VAR_RANGES
		logval("client[Session:c].call", now.client[ Index(((int)((P0 *)_this)->c), 2) ].call);
#endif
		;
		goto S_059_0;
S_058_1: /* 3 */
S_023_0: /* 2 */
		if (!(((((((((int)now.settles)==0)&& !(((((int)now.now_has.owner)==((int)((P0 *)_this)->c))&&(((int)now.now_has.left)>0))))&&(((int)now.now_has.left)==0))&& !(((now.client[0].tx==12)||(now.client[1].tx==12))))&&(((int)now.grants)<3))&&(((int)next)==255))))
			goto S_058_2;
S_033_0: /* 2 */
S_024_0: /* 2 */
		now.now_has.fence = ( (((((int)now.now_has.fence)+1)>((((int)now.time)*8)+1))) ? ((((int)now.now_has.fence)+1)) : (((((int)now.time)*8)+1)) );
#ifdef VAR_RANGES
		logval("now_has.fence", ((int)now.now_has.fence));
#endif
		;
S_025_0: /* 2 */
		now.grants = (((int)now.grants)+1);
#ifdef VAR_RANGES
		logval("grants", ((int)now.grants));
#endif
		;
S_026_0: /* 2 */
		now.now_has.grant = ((int)now.grants);
#ifdef VAR_RANGES
		logval("now_has.grant", ((int)now.now_has.grant));
#endif
		;
S_027_0: /* 2 */
		now.now_has.owner = ((int)((P0 *)_this)->c);
#ifdef VAR_RANGES
		logval("now_has.owner", ((int)now.now_has.owner));
#endif
		;
S_028_0: /* 2 */
		now.now_has.left = 2;
#ifdef VAR_RANGES
		logval("now_has.left", ((int)now.now_has.left));
#endif
		;
S_029_0: /* 2 */
		if (!(1))
			Uerror("block in d_step seq");
S_030_0: /* 2 */
		if (!(1))
			Uerror("block in d_step seq");
S_031_0: /* 2 */
		last = ((int)now.now_has.fence);
#ifdef VAR_RANGES
		logval("last", ((int)last));
#endif
		;
S_032_0: /* 2 */
		now.waits[ Index(((P0 *)_this)->c, 2) ] = 0;
#ifdef VAR_RANGES
		logval("waits[Session:c]", ((int)now.waits[ Index(((int)((P0 *)_this)->c), 2) ]));
#endif
		;
		goto S_037_0;
S_037_0: /* 2 */
S_034_0: /* 2 */
		now.client[ Index(((P0 *)_this)->c, 2) ].fence = ((int)now.now_has.fence);
#ifdef VAR_RANGES
		logval("client[Session:c].fence", ((int)now.client[ Index(((int)((P0 *)_this)->c), 2) ].fence));
#endif
		;
S_035_0: /* 2 */
		now.client[ Index(((P0 *)_this)->c, 2) ].grant = ((int)now.now_has.grant);
#ifdef VAR_RANGES
		logval("client[Session:c].grant", ((int)now.client[ Index(((int)((P0 *)_this)->c), 2) ].grant));
#endif
		;
S_036_0: /* 2 */
		now.client[ Index(((P0 *)_this)->c, 2) ].call = 7;
#ifdef VAR_RANGES
		logval("client[Session:c].call", now.client[ Index(((int)((P0 *)_this)->c), 2) ].call);
#endif
		;
		goto S_059_0;
		goto S_059_0;
S_058_2: /* 3 */
S_038_0: /* 2 */
		if (!(((((((((int)now.settles)==0)&& !(((((int)now.now_has.owner)==((int)((P0 *)_this)->c))&&(((int)now.now_has.left)>0))))&&(((int)now.now_has.left)==0))&& !(((now.client[0].tx==12)||(now.client[1].tx==12))))&&(((int)now.grants)<3))&&(((int)next)!=255))))
			goto S_058_3;
S_052_0: /* 2 */
S_048_0: /* 2 */
S_039_0: /* 2 */
		now.now_has.fence = ( (((((int)now.now_has.fence)+1)>((((int)now.time)*8)+1))) ? ((((int)now.now_has.fence)+1)) : (((((int)now.time)*8)+1)) );
#ifdef VAR_RANGES
		logval("now_has.fence", ((int)now.now_has.fence));
#endif
		;
S_040_0: /* 2 */
		now.grants = (((int)now.grants)+1);
#ifdef VAR_RANGES
		logval("grants", ((int)now.grants));
#endif
		;
S_041_0: /* 2 */
		now.now_has.grant = ((int)now.grants);
#ifdef VAR_RANGES
		logval("now_has.grant", ((int)now.now_has.grant));
#endif
		;
S_042_0: /* 2 */
		now.now_has.owner = ((int)next);
#ifdef VAR_RANGES
		logval("now_has.owner", ((int)now.now_has.owner));
#endif
		;
S_043_0: /* 2 */
		now.now_has.left = 2;
#ifdef VAR_RANGES
		logval("now_has.left", ((int)now.now_has.left));
#endif
		;
S_044_0: /* 2 */
		if (!(1))
			Uerror("block in d_step seq");
S_045_0: /* 2 */
		if (!(1))
			Uerror("block in d_step seq");
S_046_0: /* 2 */
		last = ((int)now.now_has.fence);
#ifdef VAR_RANGES
		logval("last", ((int)last));
#endif
		;
S_047_0: /* 2 */
		now.waits[ Index(next, 2) ] = 0;
#ifdef VAR_RANGES
		logval("waits[next]", ((int)now.waits[ Index(((int)next), 2) ]));
#endif
		;
		goto S_049_0;
S_049_0: /* 2 */
		now.client[ Index(next, 2) ].fence = ( ((now.client[ Index(((int)next), 2) ].call==6)) ? (((int)now.now_has.fence)) : (((int)now.client[ Index(((int)next), 2) ].fence)) );
#ifdef VAR_RANGES
		logval("client[next].fence", ((int)now.client[ Index(((int)next), 2) ].fence));
#endif
		;
S_050_0: /* 2 */
		now.client[ Index(next, 2) ].grant = ( ((now.client[ Index(((int)next), 2) ].call==6)) ? (((int)now.now_has.grant)) : (((int)now.client[ Index(((int)next), 2) ].grant)) );
#ifdef VAR_RANGES
		logval("client[next].grant", ((int)now.client[ Index(((int)next), 2) ].grant));
#endif
		;
S_051_0: /* 2 */
		now.client[ Index(next, 2) ].call = ( ((now.client[ Index(((int)next), 2) ].call==6)) ? (5) : (now.client[ Index(((int)next), 2) ].call) );
#ifdef VAR_RANGES
		logval("client[next].call", now.client[ Index(((int)next), 2) ].call);
#endif
		;
		goto S_053_0;
S_053_0: /* 2 */
		now.waits[ Index(((P0 *)_this)->c, 2) ] = 1;
#ifdef VAR_RANGES
		logval("waits[Session:c]", ((int)now.waits[ Index(((int)((P0 *)_this)->c), 2) ]));
#endif
		;
S_054_0: /* 2 */
		now.client[ Index(((P0 *)_this)->c, 2) ].call = 6;
#ifdef VAR_RANGES
		logval("client[Session:c].call", now.client[ Index(((int)((P0 *)_this)->c), 2) ].call);
#endif
		;
		goto S_059_0;
S_058_3: /* 3 */
S_055_0: /* 2 */
		/* else */;
S_056_0: /* 2 */
		now.waits[ Index(((P0 *)_this)->c, 2) ] = 1;
#ifdef VAR_RANGES
		logval("waits[Session:c]", ((int)now.waits[ Index(((int)((P0 *)_this)->c), 2) ]));
#endif
		;
S_057_0: /* 2 */
		now.client[ Index(((P0 *)_this)->c, 2) ].call = 6;
#ifdef VAR_RANGES
		logval("client[Session:c].call", now.client[ Index(((int)((P0 *)_this)->c), 2) ].call);
#endif
		;
		goto S_059_0;
S_058_4: /* 3 */
		Uerror("blocking sel in d_step (nr.9, near line 200)");
S_059_0: /* 2 */
		goto S_123_0;
S_123_0: /* 1 */

#if defined(C_States) && (HAS_TRACK==1)
		c_update((uchar *) &(now.c_state[0]));
#endif
		_m = 3; goto P999;

	case 32: // STATE 72 - /work/wt/db4/tests/models/database.pml:341 - [D_STEP341]
		if (!(boq == -1 && (now.client[ Index(((int)((P0 *)_this)->c), 2) ].call==9)))
			continue;

		reached[0][72] = 1;
		reached[0][t->st] = 1;
		reached[0][tt] = 1;

		if (TstOnly) return 1;

		sv_save();
		S_062_0: /* 2 */
		if (!((now.client[ Index(((int)((P0 *)_this)->c), 2) ].call==9)))
			Uerror("block in d_step seq");
S_070_0: /* 2 */
S_068_0: /* 2 */
S_063_0: /* 2 */
		if (!(((((int)now.now_has.owner)==((int)((P0 *)_this)->c))&&(((int)now.now_has.left)>0))))
			goto S_068_1;
S_064_0: /* 2 */
		now.now_has.left = ( ((((int)now.now_has.owner)==((int)((P0 *)_this)->c))) ? (2) : (((int)now.now_has.left)) );
#ifdef VAR_RANGES
		logval("now_has.left", ((int)now.now_has.left));
#endif
		;
S_065_0: /* 2 */
		now.client[ Index(((P0 *)_this)->c, 2) ].call = 7;
#ifdef VAR_RANGES
		logval("client[Session:c].call", now.client[ Index(((int)((P0 *)_this)->c), 2) ].call);
#endif
		;
		goto S_069_0;
S_068_1: /* 3 */
S_066_0: /* 2 */
		/* else */;
S_067_0: /* 2 */
		now.client[ Index(((P0 *)_this)->c, 2) ].call = 6;
#ifdef VAR_RANGES
		logval("client[Session:c].call", now.client[ Index(((int)((P0 *)_this)->c), 2) ].call);
#endif
		;
		goto S_069_0;
S_068_2: /* 3 */
		Uerror("blocking sel in d_step (nr.10, near line 268)");
S_069_0: /* 2 */
		goto S_123_0; /* '.' */
		goto S_123_0; /* ';' */
		goto S_123_0; /* ';' */

#if defined(C_States) && (HAS_TRACK==1)
		c_update((uchar *) &(now.c_state[0]));
#endif
		_m = 3; goto P999;

	case 33: // STATE 122 - /work/wt/db4/tests/models/database.pml:342 - [D_STEP342]
		if (!(boq == -1 && ((now.client[ Index(((int)((P0 *)_this)->c), 2) ].call==8)&&(now.client[ Index(((int)((P0 *)_this)->c), 2) ].state==1))))
			continue;

		reached[0][122] = 1;
		reached[0][t->st] = 1;
		reached[0][tt] = 1;

		if (TstOnly) return 1;

		sv_save();
		S_072_0: /* 2 */
		if (!(((now.client[ Index(((int)((P0 *)_this)->c), 2) ].call==8)&&(now.client[ Index(((int)((P0 *)_this)->c), 2) ].state==1))))
			Uerror("block in d_step seq");
S_119_0: /* 2 */
S_073_0: /* 2 */
		now.waits[ Index(((P0 *)_this)->c, 2) ] = 0;
#ifdef VAR_RANGES
		logval("waits[Session:c]", ((int)now.waits[ Index(((int)((P0 *)_this)->c), 2) ]));
#endif
		;
S_086_0: /* 2 */
S_074_0: /* 2 */
		next = 255;
#ifdef VAR_RANGES
		logval("next", ((int)next));
#endif
		;
S_075_0: /* 2 */
		k = 0;
#ifdef VAR_RANGES
		logval("k", ((int)k));
#endif
		;
S_084_0: /* 2 */
S_083_0: /* 2 */
S_076_0: /* 2 */
		if (!(((((((int)k)<2)&&(((int)k)!=((int)((P0 *)_this)->c)))&&((int)now.waits[ Index(((int)k), 2) ]))&&(((int)next)==255))))
			goto S_083_1;
S_077_0: /* 2 */
		next = ((int)k);
#ifdef VAR_RANGES
		logval("next", ((int)next));
#endif
		;
S_078_0: /* 2 */
		k = (((int)k)+1);
#ifdef VAR_RANGES
		logval("k", ((int)k));
#endif
		;
		goto S_084_0; /* ';' */
S_083_1: /* 3 */
S_079_0: /* 2 */
		if (!(((((int)k)<2)&& !((((((int)k)!=((int)((P0 *)_this)->c))&&((int)now.waits[ Index(((int)k), 2) ]))&&(((int)next)==255))))))
			goto S_083_2;
S_080_0: /* 2 */
		k = (((int)k)+1);
#ifdef VAR_RANGES
		logval("k", ((int)k));
#endif
		;
		goto S_084_0; /* ';' */
S_083_2: /* 3 */
S_081_0: /* 2 */
		/* else */;
S_082_0: /* 2 */
		goto S_117_0;	/* 'goto' */
S_083_3: /* 3 */
		Uerror("blocking sel in d_step (nr.11, near line 172)");
S_085_0: /* 2 */
		goto S_117_0;	/* 'break' */
		goto S_117_0;
S_117_0: /* 2 */
S_087_0: /* 2 */
		if (!(((((int)now.now_has.owner)==((int)((P0 *)_this)->c))&&(((int)now.now_has.left)>0))))
			goto S_117_1;
S_115_0: /* 2 */
S_113_0: /* 2 */
S_088_0: /* 2 */
		if (!((((((int)now.grants)<3)&&(((int)next)!=255))&& !(((now.client[0].tx==12)||(now.client[1].tx==12))))))
			goto S_113_1;
S_091_0: /* 2 */
S_089_0: /* 2 */
		now.settles = ( (((int)now.era)) ? (((int)now.settles)) : (2) );
#ifdef VAR_RANGES
		logval("settles", ((int)now.settles));
#endif
		;
S_090_0: /* 2 */
		now.era = 1;
#ifdef VAR_RANGES
		logval("era", ((int)now.era));
#endif
		;
		goto S_109_0;
S_109_0: /* 2 */
S_092_0: /* 2 */
		if (!((((int)now.settles)==0)))
			goto S_109_1;
S_106_0: /* 2 */
S_102_0: /* 2 */
S_093_0: /* 2 */
		now.now_has.fence = ( (((((int)now.now_has.fence)+1)>((((int)now.time)*8)+1))) ? ((((int)now.now_has.fence)+1)) : (((((int)now.time)*8)+1)) );
#ifdef VAR_RANGES
		logval("now_has.fence", ((int)now.now_has.fence));
#endif
		;
S_094_0: /* 2 */
		now.grants = (((int)now.grants)+1);
#ifdef VAR_RANGES
		logval("grants", ((int)now.grants));
#endif
		;
S_095_0: /* 2 */
		now.now_has.grant = ((int)now.grants);
#ifdef VAR_RANGES
		logval("now_has.grant", ((int)now.now_has.grant));
#endif
		;
S_096_0: /* 2 */
		now.now_has.owner = ((int)next);
#ifdef VAR_RANGES
		logval("now_has.owner", ((int)now.now_has.owner));
#endif
		;
S_097_0: /* 2 */
		now.now_has.left = 2;
#ifdef VAR_RANGES
		logval("now_has.left", ((int)now.now_has.left));
#endif
		;
S_098_0: /* 2 */
		if (!(1))
			Uerror("block in d_step seq");
S_099_0: /* 2 */
		if (!(1))
			Uerror("block in d_step seq");
S_100_0: /* 2 */
		last = ((int)now.now_has.fence);
#ifdef VAR_RANGES
		logval("last", ((int)last));
#endif
		;
S_101_0: /* 2 */
		now.waits[ Index(next, 2) ] = 0;
#ifdef VAR_RANGES
		logval("waits[next]", ((int)now.waits[ Index(((int)next), 2) ]));
#endif
		;
		goto S_103_0;
S_103_0: /* 2 */
		now.client[ Index(next, 2) ].fence = ( ((now.client[ Index(((int)next), 2) ].call==6)) ? (((int)now.now_has.fence)) : (((int)now.client[ Index(((int)next), 2) ].fence)) );
#ifdef VAR_RANGES
		logval("client[next].fence", ((int)now.client[ Index(((int)next), 2) ].fence));
#endif
		;
S_104_0: /* 2 */
		now.client[ Index(next, 2) ].grant = ( ((now.client[ Index(((int)next), 2) ].call==6)) ? (((int)now.now_has.grant)) : (((int)now.client[ Index(((int)next), 2) ].grant)) );
#ifdef VAR_RANGES
		logval("client[next].grant", ((int)now.client[ Index(((int)next), 2) ].grant));
#endif
		;
S_105_0: /* 2 */
		now.client[ Index(next, 2) ].call = ( ((now.client[ Index(((int)next), 2) ].call==6)) ? (5) : (now.client[ Index(((int)next), 2) ].call) );
#ifdef VAR_RANGES
		logval("client[next].call", now.client[ Index(((int)next), 2) ].call);
#endif
		;
		goto S_110_0;
S_109_1: /* 3 */
S_107_0: /* 2 */
		/* else */;
S_108_0: /* 2 */
		now.now_has.left = 0;
#ifdef VAR_RANGES
		logval("now_has.left", ((int)now.now_has.left));
#endif
		;
		goto S_110_0;
S_109_2: /* 3 */
		Uerror("blocking sel in d_step (nr.12, near line 231)");
S_110_0: /* 2 */
		goto S_114_0;
S_113_1: /* 3 */
S_111_0: /* 2 */
		/* else */;
S_112_0: /* 2 */
		now.now_has.left = 0;
#ifdef VAR_RANGES
		logval("now_has.left", ((int)now.now_has.left));
#endif
		;
		goto S_114_0;
S_113_2: /* 3 */
		Uerror("blocking sel in d_step (nr.13, near line 228)");
S_114_0: /* 2 */
		goto S_118_0;
S_117_1: /* 3 */
S_116_0: /* 2 */
		/* else */;
		goto S_118_0;
S_117_2: /* 3 */
		Uerror("blocking sel in d_step (nr.14, near line 248)");
S_118_0: /* 2 */
		goto S_120_0;
S_120_0: /* 2 */
		now.client[ Index(((P0 *)_this)->c, 2) ].call = 11;
#ifdef VAR_RANGES
		logval("client[Session:c].call", now.client[ Index(((int)((P0 *)_this)->c), 2) ].call);
#endif
		;
		goto S_123_0; /* ';' */

#if defined(C_States) && (HAS_TRACK==1)
		c_update((uchar *) &(now.c_state[0]));
#endif
		_m = 3; goto P999;

	case 34: // STATE 126 - /work/wt/db4/tests/models/database.pml:344 - [-end-] (0:0:0 - 0)
		IfNotBlocked
		reached[0][126] = 1;
		if (!delproc(1, II)) continue;
		_m = 3; goto P999; /* 0 */
	case  _T5:	/* np_ */
		if (!((!(trpt->o_pm&4) && !(trpt->tau&128))))
			continue;
		/* else fall through */
	case  _T2:	/* true */
		_m = 3; goto P999;
#undef rand
	}

